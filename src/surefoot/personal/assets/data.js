// The result of a study, and what is chosen to be looked at.

const data = JSON.parse(document.getElementById("data").textContent);
const METHODS = Object.keys(data.methods);
const colour = (method) => METHODS.includes(method) ? `c${METHODS.indexOf(method)}` : "other";
const MODELS = data.sessions.length ? Object.keys(data.sessions[0].lists[0].orders) : [];
const choice = { part: "test", session: 0, list: 0, model: MODELS.find((model) => model === data.methods.weighted_regression) ?? MODELS[0] ?? "" };
