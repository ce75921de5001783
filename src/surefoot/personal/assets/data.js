// What is chosen to be looked at: at first a list in which the recommended model moves something.

const METHODS = Object.keys(data.methods);
const colour = (method) => METHODS.includes(method) ? `c${METHODS.indexOf(method)}` : "other";
const MODELS = data.models.filter((model) => data.sessions.length && model in data.sessions[0].lists[0].orders);
const choice = { part: "test", session: data.opening[0], list: data.opening[1], model: MODELS.includes(data.label) ? data.label : (MODELS[0] ?? "") };
