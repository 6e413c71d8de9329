// <media-picker>: the library inside the composer. It opens over the page or, where
// there is room, beside the post, so that files can be dragged onto it; the boxes
// and the button do the same by hand. The form owns what is attached.
const roomy = "(min-width: 72rem)"

class MediaPicker extends HTMLElement {
  #off

  get #dialog() { return this.querySelector("dialog") }
  get #button() { return this.querySelector("#do-attach") }
  get #boxes() { return [...this.querySelectorAll(".pick-choice")] }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (target, type, f) => target.addEventListener(type, f, { signal })
    on(document, "click", (e) => this.#click(e))
    on(this, "input", (e) => e.stopPropagation()) // what is looked for and ticked is not the post
    on(this, "keydown", (e) => this.#key(e))
    on(this, "change", () => this.#count())
    on(this, "dragstart", (e) => this.#lift(e))
    on(this, "dragend", () => this.#over(false))
    on(document, "dragover", (e) => { if (this.#carries(e)) { e.preventDefault(); this.#over(true) } else this.#over(false) })
    on(document, "drop", (e) => this.#drop(e))
    on(this, "htmx:finally:request", (e) => { if (e.detail.ctx.sourceElement === this.#button) this.#attached() })
    on(this, "htmx:after:swap", () => this.#ready())
    if (this.#dialog.open) this.#dialog.close() // it was drawn for who has no script
  }

  disconnectedCallback() { this.#off.abort() }

  #click(e) {
    if (e.target.closest('[data-action="open-picker"]')) {
      e.preventDefault()
      this.#open()
    } else if (e.target.closest('[data-action="close-picker"]')) {
      e.preventDefault()
      this.#dialog.close()
    } else if (e.target === this.#dialog && this.#dialog.matches(":modal")) {
      this.#dialog.close() // a click beside it
    }
  }

  #open() {
    const dialog = this.#dialog
    if (dialog.open) return dialog.close()
    if (matchMedia(roomy).matches && !this.closest("dialog")) dialog.show()
    else dialog.showModal()
    const find = this.querySelector("input[type=search]")
    find.focus()
    find.dispatchEvent(new Event("picker")) // what is there now
    this.#count()
  }

  // Enter looks; it must not save the post.
  #key(e) {
    if (e.key === "Enter" && e.target.matches("input")) {
      e.preventDefault()
      if (e.target.matches("[type=search]")) e.target.dispatchEvent(new Event("picker"))
      else e.target.click()
    } else if (e.key === "Escape" && this.#dialog.open) {
      e.preventDefault()
      this.#dialog.close()
      document.querySelector('[data-action="open-picker"]').focus()
    }
  }

  #count() {
    const n = this.#boxes.filter((b) => b.checked).length
    this.#button.disabled = n === 0
    this.#button.querySelector("span").textContent = n > 1 ? `Attach ${n} files` : "Attach"
  }

  #ready() {
    const has = new Set([...document.querySelectorAll(".attachment input[name=media]")].map((i) => i.value))
    for (const box of this.#boxes) {
      box.disabled = has.has(box.value)
      const pick = box.closest(".pick")
      pick.toggleAttribute("data-mine", box.disabled)
      pick.querySelector("label").draggable = !box.disabled
    }
    this.#count()
  }

  #carries(e) { return e.dataTransfer?.types.includes("text/x-herald-media") ?? false }

  #over(on) {
    for (const place of document.querySelectorAll(this.dataset.drop)) place.toggleAttribute("data-over", on)
  }

  // What is dragged is what is ticked, if it is among them, or itself alone.
  #lift(e) {
    const pick = e.target.closest?.(".pick")
    if (!pick) return
    const box = pick.querySelector(".pick-choice")
    if (!box.checked) for (const b of this.#boxes) b.checked = b === box
    this.#count()
    e.dataTransfer.setData("text/x-herald-media", box.value)
    e.dataTransfer.effectAllowed = "copy"
  }

  #drop(e) {
    if (!this.#carries(e)) return
    e.preventDefault()
    this.#over(false)
    if (e.target.closest(this.dataset.drop)) this.#button.click()
  }

  #attached() {
    for (const b of this.#boxes) b.checked = false
    this.#ready()
  }
}
customElements.define("media-picker", MediaPicker)
