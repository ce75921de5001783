// Numbers in base64, and the top results of queries unpacked: of each system `data.systems`, as report/page_results.py packs them.

function bytes(base64) {
  const text = atob(base64),
    bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function numbers(packed) {
  const raw = bytes(packed.data),
    { width } = packed,
    numbers = new Uint32Array(raw.length / width);
  for (let i = 0; i < numbers.length; i++)
    for (let b = width - 1; b >= 0; b--) numbers[i] = numbers[i] * 256 + raw[i * width + b];
  return numbers;
}

const unpacked = { ids: null, lists: new Map() };

function documentIds() {
  if (unpacked.ids) return unpacked.ids;
  const { shared, separator, rest } = data.results.ids,
    skips = numbers(shared);
  const ends = separator === null ? rest : skips.length ? rest.split(separator) : [];
  let last = "";
  unpacked.ids = Array.from(skips, (skip, i) => (last = last.slice(0, skip) + ends[i]));
  return unpacked.ids;
}

function listsOf(system) {
  // For each query that the page has results of: [{ document, grade, rank in the baseline's run }], and where the baseline's results went.
  // Unpacked when first asked for: most are never looked at.
  if (!unpacked.lists.has(system)) unpacked.lists.set(system, unpackLists(data.results.systems[system]));
  return unpacked.lists.get(system);
}

function unpackLists(packed) {
  const [queries, lengths, documents, grades] = ["queries", "lengths", "documents", "grades"].map((key) => numbers(packed[key])),
    [places, before, after] = ["places", "before", "after"].map((key) => packed[key] && numbers(packed[key]));
  const theirs = places && listsOf(data.systems.indexOf(data.results.baseline)),
    lists = new Map();
  let query = 0,
    at = 0, // among all results
    own = 0, // among those that the baseline's list does not have
    gone = 0; // among the baseline's that this list does not have
  queries.forEach((step, k) => {
    query += step;
    const base = theirs?.get(query).results ?? [],
      now = base.map(() => null);
    const results = Array.from({ length: lengths[k] }, (_, i) => {
      const place = places ? places[at++] : 0;
      if (place) {
        now[place - 1] = i + 1;
        return { ...base[place - 1], before: place };
      }
      const level = grades[own],
        grade = level ? data.results.levels[level - 1] : null;
      return { document: documents[own], grade, before: before ? before[own++] : (own++, null) };
    });
    lists.set(query, { results, after: now.map((rank) => rank ?? (after ? after[gone++] : null)) });
  });
  return lists;
}

function topResults(system, q) {
  // The results of a system on a query as [{ document, grade }], or null where the page does not hold them.
  return data.results && system >= 0 ? (listsOf(system).get(q)?.results ?? null) : null;
}

function pairOfResults(system, against, q) {
  // Both lists as [{ document, id, text, grade, other }], `other` the rank in the other run (0: not there, null: not known); null where the page has none.
  const mine = topResults(system, q),
    theirs = topResults(against, q);
  const rank = (list) => new Map((list ?? []).map(({ document }, i) => [document, i + 1]));
  const known = data.systems[against] === data.results?.baseline && data.results.systems[system]?.places,
    inTheirs = rank(theirs),
    inMine = rank(mine);
  const shown = (list, other) =>
    list?.map((one, i) => ({ ...one, id: documentIds()[one.document], text: data.texts?.documents?.[one.document] ?? "", other: other(one, i) })) ?? null;
  return {
    mine: shown(mine, ({ document, before }) => (known ? before : (inTheirs.get(document) ?? null))),
    theirs: shown(theirs, ({ document }, i) => (known && mine ? listsOf(system).get(q).after[i] : (inMine.get(document) ?? null))),
  };
}
