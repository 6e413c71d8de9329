// <media-uploads>: takes files that are chosen, dropped anywhere on the page or
// pasted, sends a few of them at once, and hands what arrived to its form. Each file
// is a line made of the template inside; see upload-line.js. Without script the form
// takes the files itself.
import { filesOf, holdsFiles } from "./dropped-files.js"
import { onceFree, tus } from "./upload-line.js"

const atOnce = 3

class MediaUploads extends HTMLElement {
  #off
  #pending = [] // files that wait to be told whose they are
  #arrived = [] // assets that the form was not told of yet
  #telling = false
  #over = 0 // how deep a drag is in the page
  #ours = false // something of the page itself is dragged

  get #input() { return this.querySelector("input[type=file]") }
  get #lines() { return [...this.querySelectorAll("upload-line")] }
  get #client() { return (this.closest("form") ?? this).querySelector(this.dataset.client) }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    const on = (target, type, f) => target.addEventListener(type, f, { signal })
    on(document, "change", (e) => this.#changed(e))
    on(document, "htmx:after:swap", () => { this.#unblock(); this.#fetched() })
    on(this, "click", (e) => this.#click(e))
    on(this, "upload-arrived", (e) => this.#take(e.detail))
    on(this, "upload-resumed", (e) => this.#resumed(e.detail))
    for (const type of ["upload-ended", "upload-retried", "upload-left"]) on(this, type, () => queueMicrotask(() => this.#next()))
    on(this, "htmx:finally:request", (e) => this.#told(e))
    on(document, "paste", (e) => this.#paste(e))
    on(document, "dragenter", (e) => this.#drag(e, 1))
    on(document, "dragleave", (e) => this.#drag(e, -1))
    on(document, "dragover", (e) => { if (this.#brings(e)) e.preventDefault() })
    on(document, "dragstart", () => { this.#ours = true })
    for (const type of ["dragend", "pointerdown"]) on(document, type, () => { this.#ours = false })
    on(document, "drop", (e) => this.#drop(e))
    on(window, "beforeunload", (e) => { if (this.#lines.some((l) => ["sending", "waiting", "lost"].includes(l.state))) e.preventDefault() })
    this.#leftovers()
  }

  disconnectedCallback() { this.#off.abort() }

  #changed(e) {
    if (e.target === this.#input) {
      this.#add([...this.#input.files])
      this.#input.value = ""
    } else if (e.target === this.#client) {
      this.#unblock()
    }
  }

  // unblock goes on with files that waited to be told whose they are.
  #unblock() {
    if (this.#pending.length > 0 && this.#client?.value) this.#add(this.#pending.splice(0))
  }

  // fetched takes what came by an address. Where all of it did, the dialog is done.
  #fetched() {
    const came = [...this.querySelectorAll("[data-came]")]
    if (came.length === 0) return
    for (const one of came) {
      one.remove()
      this.#take({ media: one.dataset.came, again: true })
    }
    if (!this.querySelector(".upload-fetched, dialog [data-problem]")) this.querySelector("dialog").close()
  }

  #click(e) {
    if (e.target.closest('[data-action="choose-files"]')) this.#input.click()
    if (e.target.closest('[data-action="clear-uploads"]')) {
      for (const line of this.#lines) if (line.over) line.closest("li").remove()
      this.#summary()
    }
  }

  // brings says whether a drag brings files to the page. A picture that is dragged out
  // of it holds one too.
  #brings(e) { return holdsFiles(e) && !this.#ours }

  #drag(e, by) {
    if (!this.#brings(e)) return
    this.#over = Math.max(0, this.#over + by)
    this.toggleAttribute("data-over", this.#over > 0)
  }

  async #drop(e) {
    this.#over = 0
    this.removeAttribute("data-over")
    if (!this.#brings(e)) return
    e.preventDefault()
    this.#add(await filesOf(e.dataTransfer))
  }

  // paste takes files. Words that come with a picture of themselves, as office programs
  // put them on the clipboard, stay words where words are typed.
  #paste(e) {
    const { files, types } = e.clipboardData
    if (files.length === 0 || types.includes("text/plain") && e.target.matches("input, textarea")) return
    e.preventDefault()
    this.#add([...files])
  }

  // add queues files. Whose they are has to be known first.
  #add(files) {
    if (files.length === 0) return
    const client = this.#client
    if (!client?.value) {
      this.#pending.push(...files)
      if (!client?.checkVisibility()) document.querySelector(`[data-dialog="${this.dataset.asks}"]`)?.click()
      client?.setAttribute("aria-invalid", "true")
      this.#summary()
      return client?.focus()
    }
    client.removeAttribute("aria-invalid")
    this.querySelector("dialog")?.close()
    for (const file of files) this.#line().take(file)
    this.#next()
  }

  #line() {
    const made = this.querySelector("template").content.cloneNode(true)
    const list = this.querySelector("[data-lines]")
    list.append(made)
    return list.lastElementChild.querySelector("upload-line")
  }

  #next() {
    const lines = this.#lines
    let busy = lines.filter((l) => l.state === "sending" || l.state === "lost").length
    for (const line of lines) {
      if (busy >= atOnce) break
      if (line.state !== "waiting") continue
      line.send(this.dataset.tus, this.#client.value)
      busy++
    }
    this.#summary()
  }

  #summary() {
    const states = this.#lines.map((l) => l.state)
    const count = (...list) => states.filter((s) => list.includes(s)).length
    const files = (n) => n === 1 ? "one file" : `${n} files`
    const open = count("waiting", "sending", "lost"), ended = count("done", "refused", "stopped")
    const said = [], wait = this.#pending.length
    if (wait > 0) said.push(`${files(wait)} ${wait === 1 ? "waits" : "wait"} for the client to be chosen`)
    if (open > 0) said.push(`Uploading ${files(open)}`)
    else if (count("done") > 0) said.push(`${files(count("done"))} in the library`)
    if (count("refused") > 0) said.push(`${files(count("refused"))} not taken`)
    if (count("stopped") > 0) said.push(`${files(count("stopped"))} stopped`)
    if (open === 0 && ended === 0 && count("left") > 0) said.push(`${files(count("left"))} not here whole`)
    const words = said.join(", ")
    this.querySelector("[data-summary]").textContent = words.charAt(0).toUpperCase() + words.slice(1)
    this.querySelector("[data-tray]").hidden = states.length + wait === 0
    this.querySelector('[data-action="clear-uploads"]').hidden = states.length === open + count("left")
  }

  // take tells the form of an asset: its button is pressed once the answer to the
  // press before is here, for all that have arrived by then.
  #take({ media, again }) {
    this.#arrived.push(media)
    if (again) document.getElementById(`asset-${media}`)?.remove() // it comes back at the top
    this.#tell()
  }

  #tell() {
    const button = this.querySelector("[data-arrive]")
    if (this.#telling || this.#arrived.length === 0) return
    const here = this.querySelector("[data-arrived]")
    here.replaceChildren(...this.#arrived.map((id) => Object.assign(document.createElement("input"), { type: "hidden", name: "arrived", value: id })))
    this.#arrived = []
    this.#telling = true
    button.click()
  }

  #told(e) {
    if (e.detail.ctx.sourceElement !== this.querySelector("[data-arrive]")) return
    this.#telling = false
    this.querySelector("[data-arrived]").replaceChildren()
    this.#tell()
  }

  // leftovers are uploads that a tab left unfinished when it was closed. The library
  // shows them, whatever page they began on, once no other tab goes on with them.
  async #leftovers() {
    if (!this.querySelector("[data-floats]") || !Object.keys(localStorage).some((k) => k.startsWith("tus::"))) return
    const { defaultOptions } = await tus()
    const here = new URL(this.dataset.tus, location.href).href
    for (const entry of await defaultOptions.urlStorage.findAllUploads()) {
      if (!new URL(entry.uploadUrl ?? "", location.href).href.startsWith(here)) continue
      const key = entry.urlStorageKey // tus::FINGERPRINT::NUMBER
      onceFree(key.slice("tus::".length, key.lastIndexOf("::")), this.#off.signal, () => { if (localStorage.getItem(key)) this.#left(entry) })
    }
  }

  #left(entry) {
    this.#line().left(entry)
    this.#summary()
  }

  #resumed(before) {
    this.#lines.find((l) => l.state === "left" && l.entry.urlStorageKey === before.urlStorageKey)?.closest("li").remove()
  }
}
customElements.define("media-uploads", MediaUploads)
