// What the page hands over to its scripts.

const data = JSON.parse(document.getElementById("data").textContent);
