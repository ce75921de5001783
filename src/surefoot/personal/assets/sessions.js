// A session's lists: what was shown and clicked, and how a model would have ordered it.

function currentList() {
  return data.sessions[choice.session]?.lists[choice.list];
}

function drawSession() {
  const list = currentList();
  if (!list) {
    replace(get("lists-body"));
    setText(get("session-note"), "There is no session to look at.");
    return;
  }
  const order = list.orders[choice.model],
    moved = order.filter((place, now) => place !== now).length;
  replace(
    get("session-note"),
    "Query ", name(list.query), moved
      ? `: ${plural(moved, "result", "results")} of ${count(order.length)} would get another rank.`
      : ": the order stays as it was shown.",
  );
  const heads = [["rank", "rank"], ["", "as shown"], ["", "by the model"], ["", "moved"], ["known", "what was known of it before"]];
  replace(get("lists-head"), html("tr", {}, ...heads.map(([kind, text]) => html("th", { scope: "col", class: kind }, text))));
  replace(
    get("lists-body"),
    ...order.map((place, now) =>
      html(
        "tr", {},
        html("td", { class: "rank" }, count(now + 1)),
        html("td", {}, mark(list, now)),
        html("td", {}, mark(list, place)),
        html("td", { class: place > now ? "up" : place < now ? "down" : "" }, place > now ? `↑ ${place - now}` : place < now ? `↓ ${now - place}` : "–"),
        html("td", { class: "known" }, Object.entries(list.known[place]).map(([key, value]) => `${key} ${short(value)}`).join(", ")),
      ),
    ),
  );
  dressTable(get("orders"));
}

function mark(list, place) {
  const grade = list.grade[place],
    clicked = list.clicked[place];
  const words = grade ? ` satisfied${grade > 1 ? ` (${grade})` : ""}` : clicked ? " clicked" : "";
  return html("span", { class: grade ? "satisfied" : clicked ? "clicked" : "" }, name(list.documents[place]), words);
}
