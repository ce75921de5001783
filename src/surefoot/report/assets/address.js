// What is shown is kept in the address after its #, so that a link shows the same.

const address = { parts: null, timer: null };

function addressParts() {
  // A plain anchor, such as the skip link's, says nothing about what is shown.
  return address.parts ?? new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
}

function familyState(key, value) {
  // What the address has for a key, or null; with a value, which null takes away, it is written there.
  if (value === undefined) return addressParts().get(key);
  keepState({ [key]: value });
  return value;
}

function keepState(changes, step = false) {
  // A step can be gone back on; others, a slider's say, replace each other, and not faster than browsers allow.
  const parts = addressParts();
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) parts.delete(key);
    else parts.set(key, String(value));
  }
  address.parts = parts;
  clearTimeout(address.timer);
  if (step) writeAddress("pushState");
  else address.timer = setTimeout(writeAddress, 150, "replaceState");
}

function writeAddress(how) {
  const text = `#${address.parts}`;
  address.parts = null;
  if (text === (location.hash || "#")) return;
  try {
    history[how](null, "", text);
  } catch {
    // Inside a frame without an address of its own the page still works, only its links do not.
  }
}

function onAddress(follow) {
  const heard = () => {
    if (location.hash && !location.hash.includes("=")) return;
    clearTimeout(address.timer);
    address.parts = null;
    follow();
  };
  addEventListener("hashchange", heard);
  addEventListener("popstate", heard);
}
