// <emoji-panel>: every emoji, to be looked for by word and moved among by arrow keys.
// Its buttons say what they write, in data-insert; writing-tools writes it.
import { goTo, stepFrom } from "./emoji-grid.js"
import { keepTone, keepUsed, toneKept, usedLast } from "./emoji-memory.js"

class EmojiPanel extends HTMLElement {
  #off

  get #find() { return this.querySelector("input[type=search]") }
  get #tone() { return this.querySelector("select") }
  get #all() { return [...this.querySelectorAll("[data-emoji] button")] }
  get #seen() { return [...this.querySelectorAll(".emoji-grid button")].filter((b) => b.checkVisibility()) }

  connectedCallback() {
    this.#off = new AbortController()
    const on = (type, f) => this.addEventListener(type, f, { signal: this.#off.signal })
    on("htmx:after:swap", () => this.#paint())
    on("fill", () => { this.#find.value = ""; this.#recent() })
    on("input", (e) => { if (e.target === this.#find) this.#look() })
    on("change", (e) => { if (e.target === this.#tone) this.#paint() })
    on("keydown", (e) => this.#key(e))
    on("click", (e) => { const { plain } = e.target.closest("[data-insert]")?.dataset ?? {}; if (plain) keepUsed(plain) })
    this.#tone.value = toneKept()
  }

  disconnectedCallback() { this.#off.abort() }

  #paint() {
    const tone = Number(this.#tone.value)
    keepTone(tone)
    for (const b of this.#all) {
      b.dataset.plain ??= b.textContent
      b.textContent = b.dataset.insert = (tone && b.dataset.tones?.split(" ")[tone - 1]) || b.dataset.plain
    }
    this.#recent()
  }

  // recent shows the last ones that were used, as copies of their buttons.
  #recent() {
    const found = usedLast().map((plain) => this.#all.find((b) => b.dataset.plain === plain)).filter(Boolean)
    const part = this.querySelector("[data-recent]")
    part.hidden = found.length === 0
    part.querySelector(".emoji-grid").replaceChildren(...found.map((b) => b.cloneNode(true)))
    this.#look()
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
    seen.forEach((b, i) => { b.tabIndex = i === 0 ? 0 : -1 })
    this.querySelector("[data-none]").hidden = asked.length === 0 || seen.length > 0
  }

  #key(e) {
    const seen = this.#seen
    if (e.target === this.#find && seen[0] && (e.key === "ArrowDown" || e.key === "Enter")) {
      e.preventDefault()
      return e.key === "Enter" && this.#find.value ? seen[0].click() : goTo(this, seen[0])
    }
    const here = e.target.closest(".emoji-grid button")
    const to = here ? stepFrom(here, seen, e.key) : undefined
    if (to === undefined) return
    e.preventDefault()
    goTo(this, to ?? (e.key === "ArrowUp" ? this.#find : null))
  }
}
customElements.define("emoji-panel", EmojiPanel)
