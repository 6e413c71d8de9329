// <media-drop>: files that are chosen or dropped go up at once, one after the
// other, so that each shows as soon as it is there. The button inside sends the
// form; the server's answer is the list of files. Without script the button is
// pressed by hand.
class MediaDrop extends HTMLElement {
  #off
  #queue = []
  #sent = 0
  #busy = false // not an attribute: the server's answer would take it away

  get #input() { return this.querySelector("input[type=file]") }
  get #button() { return this.querySelector("button") }

  connectedCallback() {
    this.#off = new AbortController()
    const on = (type, f) => this.addEventListener(type, f, { signal: this.#off.signal })
    on("change", (e) => { if (e.target === this.#input) this.#add() })
    on("htmx:finally:request", () => this.#done())
    on("dragover", () => this.querySelector(".file-drop").toggleAttribute("data-over", true))
    for (const type of ["dragleave", "drop"]) on(type, () => this.querySelector(".file-drop").removeAttribute("data-over"))
  }

  disconnectedCallback() { this.#off.abort() }

  #add() {
    this.#queue.push(...this.#input.files)
    this.#input.value = ""
    if (!this.#busy) this.#next()
  }

  #next() {
    const file = this.#queue.shift()
    const progress = this.querySelector(".media-progress")
    if (!file) {
      progress.hidden = true
      this.#sent = 0
      return
    }
    this.#busy = true
    this.#sent++
    const all = this.#sent + this.#queue.length
    progress.hidden = false
    progress.querySelector("progress").max = all
    progress.querySelector("progress").value = this.#sent - 0.5
    progress.querySelector("span").textContent = all === 1 ? `Uploading ${file.name}` : `Uploading ${file.name}, ${this.#sent} of ${all}`
    this.querySelector("input[name=batch]").value = this.#sent === 1 ? "" : "more"
    const one = new DataTransfer()
    one.items.add(file)
    this.#input.files = one.files
    this.#button.click()
    this.#input.value = "" // the form has it; saving must not send it again
  }

  #done() {
    if (!this.#busy) return
    this.#busy = false
    this.#next()
  }
}
customElements.define("media-drop", MediaDrop)
