// <live-view data-events>: the page's content, fetched again when the server says
// that something changed. The link inside asks for it and htmx morphs what differs,
// so that focus and scroll stay. While something is open, dragged or typed in, it
// waits. A tab that nobody looks at listens to nothing, and looks when it is shown.
const PAUSE = 1500

class LiveView extends HTMLElement {
  #off
  #source
  #timer
  #lost = false

  connectedCallback() {
    this.#off = new AbortController()
    document.addEventListener("visibilitychange", () => this.#follow(), { signal: this.#off.signal })
    this.#follow()
  }

  disconnectedCallback() {
    this.#off.abort()
    this.#close()
    clearTimeout(this.#timer)
  }

  #follow() {
    if (document.hidden) {
      if (this.#source) this.#lost = true
      this.#close()
    } else if (!this.#source) {
      this.#source = new EventSource(this.dataset.events)
      this.#source.addEventListener("changed", () => this.#soon())
      this.#source.addEventListener("error", () => { this.#lost = true })
      this.#source.addEventListener("open", () => { if (this.#lost || this.#moving()) this.#soon() })
    }
  }

  #close() {
    this.#source?.close()
    this.#source = undefined
  }

  #soon() {
    this.#lost = false
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#busy()) this.#soon()
      else if (document.hidden) this.#lost = true
      else this.querySelector("[data-live-again]").dispatchEvent(new Event("live"))
    }, PAUSE)
  }

  // What was at work when the page was made may have ended before anybody listened.
  #moving() { return this.querySelector("progress") !== null }

  #busy() {
    return this.querySelector(":is(dialog, details)[open], [aria-busy=true], [data-dragging], [data-chosen]") !== null ||
      document.querySelector("dialog[open]") !== null ||
      this.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")
  }
}
customElements.define("live-view", LiveView)
