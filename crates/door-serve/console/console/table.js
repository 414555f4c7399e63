// Looking up words that came from outside: only what was put in is found, never what every object has (`constructor`, `__proto__`).

export function table(entries) {
  const map = new Map(Object.entries(entries));
  return (key, otherwise) => (map.has(key) ? map.get(key) : otherwise);
}
