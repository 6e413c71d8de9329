// <emoji-panel>: every emoji, to be looked for by word and moved among by arrow keys.
// Its buttons say what they write, in data-insert; writing-tools writes it. The skin
// tone and the last ones used are remembered by this browser.
const TONE = "herald emoji tone"
const USED = "herald emoji used"
const KEPT = 16

class EmojiPanel extends HTMLElement {
  #off

  get #find() { return this.querySelector("input[type=search]") }
  get #tone() { return this.querySelector("select") }
  get #all() { return [...this.querySelectorAll("[data-emoji] button")] }
  get #seen() { return [...this.querySelectorAll(".emoji-grid button")].filter((b) => b.checkVisibility()) }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (type, f) => this.addEventListener(type, f, { signal })
    on("htmx:after:swap", () => this.#paint())
    on("fill", () => this.#open())
    on("input", (e) => { if (e.target === this.#find) this.#look() })
    on("change", (e) => { if (e.target === this.#tone) this.#paint() })
    on("keydown", (e) => this.#key(e))
    on("click", (e) => this.#used(e.target.closest("[data-insert]")))
    this.#tone.value = localStorage.getItem(TONE) ?? "0"
  }

  disconnectedCallback() { this.#off.abort() }

  #open() {
    this.#find.value = ""
    this.#recent()
  }

  #paint() {
    const tone = Number(this.#tone.value)
    localStorage.setItem(TONE, tone)
    for (const b of this.#all) {
      b.dataset.plain ??= b.textContent
      b.textContent = b.dataset.insert = (tone && b.dataset.tones?.split(" ")[tone - 1]) || b.dataset.plain
    }
    this.#recent()
  }

  // recent shows the last ones that were used, as copies of their buttons.
  #recent() {
    const used = JSON.parse(localStorage.getItem(USED) ?? "[]")
    const found = used.map((plain) => this.#all.find((b) => b.dataset.plain === plain)).filter(Boolean)
    const part = this.querySelector("[data-recent]")
    part.hidden = found.length === 0
    part.querySelector(".emoji-grid").replaceChildren(...found.map((b) => b.cloneNode(true)))
    this.#look()
  }

  #used(button) {
    if (!button?.dataset.plain) return
    const used = JSON.parse(localStorage.getItem(USED) ?? "[]").filter((plain) => plain !== button.dataset.plain)
    localStorage.setItem(USED, JSON.stringify([button.dataset.plain, ...used].slice(0, KEPT)))
  }

  // look shows those whose name or words begin with every word that is typed.
  #look() {
    const asked = this.#find.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const b of this.#all) {
      const words = `${b.title} ${b.dataset.find}`.toLowerCase().split(/[\s:,-]+/)
      b.hidden = !asked.every((a) => words.some((w) => w.startsWith(a)))
    }
    for (const part of this.querySelectorAll("[data-emoji] .emoji-group")) part.hidden = !part.querySelector("button:not([hidden])")
    this.querySelector("[data-recent]").toggleAttribute("data-away", asked.length > 0)
    const seen = this.#seen
    for (const b of seen) b.tabIndex = -1
    if (seen[0]) seen[0].tabIndex = 0
    this.querySelector("[data-none]").hidden = asked.length === 0 || seen.length > 0
  }

  #key(e) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[e.key]
    const here = e.target.closest(".emoji-grid button")
    const seen = this.#seen
    if (e.target === this.#find && seen[0] && (e.key === "ArrowDown" || e.key === "Enter")) {
      e.preventDefault()
      return e.key === "Enter" && this.#find.value ? seen[0].click() : this.#go(seen[0])
    }
    if (!here || !step) return
    e.preventDefault()
    if (e.key === "ArrowRight" || e.key === "ArrowLeft") return this.#go(seen[seen.indexOf(here) + step])
    this.#go(this.#beyond(here, seen, step) ?? (step < 0 ? this.#find : null))
  }

  // beyond is the nearest one of the next row, up or down.
  #beyond(here, seen, step) {
    const { left, top } = here.getBoundingClientRect()
    let best, least
    for (const b of seen) {
      const box = b.getBoundingClientRect()
      const down = (box.top - top) * step
      if (down < 2) continue
      const far = down * 100 + Math.abs(box.left - left)
      if (least === undefined || far < least) [best, least] = [b, far]
    }
    return best
  }

  #go(to) {
    if (!to) return
    for (const b of this.querySelectorAll('.emoji-grid button[tabindex="0"]')) b.tabIndex = -1
    if (to !== this.#find) to.tabIndex = 0
    to.focus()
  }
}
customElements.define("emoji-panel", EmojiPanel)
