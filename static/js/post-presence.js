// <post-presence data-events>: says who else has the post open, in the server's words.
// It listens for as long as the page is looked at, which is also how others hear of its
// reader. Whatever fails, it falls silent: nobody has to know.
class PostPresence extends HTMLElement {
  #off
  #source

  connectedCallback() {
    this.#off = new AbortController()
    document.addEventListener("visibilitychange", () => this.#follow(), { signal: this.#off.signal })
    this.#follow()
  }

  disconnectedCallback() {
    this.#off.abort()
    this.#close()
  }

  #follow() {
    if (document.hidden) return this.#close()
    if (this.#source) return
    this.#source = new EventSource(this.dataset.events)
    this.#source.addEventListener("here", (e) => { this.textContent = e.data })
    this.#source.addEventListener("error", () => { this.textContent = "" })
  }

  #close() {
    this.#source?.close()
    this.#source = undefined
    this.textContent = ""
  }
}
customElements.define("post-presence", PostPresence)
