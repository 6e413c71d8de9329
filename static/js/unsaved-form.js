// <unsaved-form>: asks before the page is left with changes that were neither sent nor
// kept (kept-form says so).
class UnsavedForm extends HTMLElement {
  #off
  #changed = false

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const change = (e) => { if (e.target.name) this.#changed = true }
    this.addEventListener("input", change, { signal })
    this.addEventListener("change", change, { signal })
    for (const type of ["submit", "kept"]) this.addEventListener(type, () => { this.#changed = false }, { signal })
    window.addEventListener("beforeunload", (e) => { if (this.#changed) e.preventDefault() }, { signal })
  }

  disconnectedCallback() { this.#off.abort() }
}
customElements.define("unsaved-form", UnsavedForm)
