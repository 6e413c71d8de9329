// <notice-card>: leaves when dismissed. Good news and plain remarks also leave
// by themselves, but not while the pointer or the focus rests on them. What was
// dismissed is not said again by what a page asks by itself while somebody writes.
const STAYS = 8000
const dismissed = new Set() // until somebody presses something

document.addEventListener("click", () => dismissed.clear(), { capture: true })

class NoticeCard extends HTMLElement {
  #off
  #timer

  connectedCallback() {
    this.#off = new AbortController()
    if (dismissed.has(this.textContent)) return this.remove()
    const on = (type, f) => this.addEventListener(type, f, { signal: this.#off.signal })
    on("click", (e) => { if (e.target.closest('[data-action="dismiss"]')) this.#dismiss() })
    on("keydown", (e) => { if (e.key === "Escape") this.#dismiss() })
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

  #dismiss() {
    dismissed.add(this.textContent)
    this.remove()
  }

  #hold() { clearTimeout(this.#timer) }

  #count() {
    this.#hold()
    this.#timer = setTimeout(() => this.remove(), STAYS)
  }
}
customElements.define("notice-card", NoticeCard)
