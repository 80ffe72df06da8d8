// SPDX-License-Identifier: Apache-2.0
// What a reader chose stands in the page's address after "#~", so that the address can be passed on.

const state = new URLSearchParams(location.hash.startsWith("#~") ? location.hash.slice(2) : "");

export function recall(key: string): string | null {
  return state.get(key);
}

/** An empty value is the one that a page begins with. */
export function remember(key: string, value: string): void {
  if (value === "") state.delete(key); else state.set(key, value);
  const text = state.toString();
  history.replaceState(null, "", text === "" ? location.href.replace(/#.*/, "") : `#~${text}`);
}

window.addEventListener("hashchange", () => {
  if (location.hash.startsWith("#~")) location.reload();
});
