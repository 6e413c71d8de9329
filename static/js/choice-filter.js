// <choice-filter>: a field that leaves of many choices those whose name has the words
// typed. What is ticked stays in sight: nobody connects what they do not see.
class ChoiceFilter extends HTMLElement {
  #off

  get #choices() { return [...this.closest("form").querySelectorAll(".found-account")] }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    this.hidden = false
    this.addEventListener("input", () => this.#look(), { signal })
    this.addEventListener("keydown", (e) => { if (e.key === "Enter") e.preventDefault() }, { signal })
    this.closest("form").addEventListener("change", () => this.#look(), { signal })
    this.#look()
  }

  disconnectedCallback() { this.#off.abort() }

  #look() {
    const words = plain(this.querySelector("input").value).split(/\s+/).filter(Boolean)
    let seen = 0
    for (const choice of this.#choices) {
      const name = plain(choice.querySelector("label").textContent)
      const shown = choice.querySelector("input").checked || words.every((w) => name.includes(w))
      choice.hidden = !shown
      seen += shown
    }
    this.querySelector("[role=status]").textContent = words.length ? `${seen} of ${this.#choices.length} shown` : ""
  }
}

// plain finds Cafe and café alike.
const plain = (s) => s.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()

customElements.define("choice-filter", ChoiceFilter)
