// Against answers that nobody meant: a yes counts only for a card that stood still under the pointer, and whose command was
// there to be read to its end.

/** How long a card must have stood still before a yes counts. */
export const STILL = 400;

/** Watches the cards of a list: whoever appears or moves is not to be pressed for a moment. */
export class Guard {
  constructor(list) {
    this.list = list;
    this.tops = new Map();
    this.since = new Map();
    this.observer = new ResizeObserver(() => this.look());
    this.observer.observe(list);
  }

  /** Compares where each card is with where it was. */
  look() {
    const now = performance.now();
    const seen = new Set();
    for (const card of this.list.querySelectorAll("[data-question]")) {
      const id = card.dataset.question;
      const top = card.offsetTop;
      seen.add(id);
      if (this.tops.get(id) !== top) {
        this.tops.set(id, top);
        this.rearm(id, now);
      }
    }
    for (const id of this.tops.keys()) {
      if (seen.has(id)) continue;
      this.tops.delete(id);
      this.since.delete(id);
    }
  }

  /** From now on it has to stand still again. */
  rearm(id, now = performance.now()) {
    this.since.set(id, now);
    const card = this.list.querySelector(`[data-question="${CSS.escape(id)}"]`);
    card?.classList.add("settling");
    setTimeout(() => { if (this.ready(id)) card?.classList.remove("settling"); }, STILL + 20);
  }

  ready(id) {
    const since = this.since.get(id);
    return since !== undefined && performance.now() - since >= STILL;
  }

  stop() {
    this.observer.disconnect();
  }
}

/** Whether the end of a box that scrolls has been on the screen (or never had to be scrolled to). */
export function whole(box) {
  return box.scrollHeight - box.clientHeight - box.scrollTop <= 4;
}
