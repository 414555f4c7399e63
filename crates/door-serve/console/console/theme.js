// Dark, light, or as the system has it; kept in this browser.

const KEPT = "bailiwick.theme";
export const THEMES = ["auto", "dark", "light"];

export function theme() {
  let kept = null;
  try { kept = localStorage.getItem(KEPT); } catch { kept = null; }
  return THEMES.includes(kept) ? kept : "auto";
}

export function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem(KEPT, name); } catch { /* it holds until the page is closed */ }
}
