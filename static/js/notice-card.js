// <notice-card>: leaves when dismissed. Good news and plain remarks also leave
// by themselves, but not while the pointer or the focus rests on them.
const STAYS = 8000

class NoticeCard extends HTMLElement {
  #off
  #timer

  connectedCallback() {
    this.#off = new AbortController()
    const on = (type, f) => this.addEventListener(type, f, { signal: this.#off.signal })
    on("click", (e) => { if (e.target.closest('[data-action="dismiss"]')) this.remove() })
    on("keydown", (e) => { if (e.key === "Escape") this.remove() })
    if (this.dataset.tone === "bad" || this.dataset.tone === "warn" || this.hasAttribute("data-stay")) return
    on("pointerenter", () => this.#hold())
    on("pointerleave", () => this.#count())
    on("focusin", () => this.#hold())
    on("focusout", () => this.#count())
    this.#count()
  }

  disconnectedCallback() {
    this.#hold()
    this.#off.abort()
  }

  #hold() { clearTimeout(this.#timer) }

  #count() {
    this.#hold()
    this.#timer = setTimeout(() => this.remove(), STAYS)
  }
}
customElements.define("notice-card", NoticeCard)
