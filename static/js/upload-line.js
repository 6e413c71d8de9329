// <upload-line>: one file on its way into the library by the tus protocol, with how
// far it is, and buttons to cancel it and to try again. A lost connection is waited
// out; a closed tab leaves the upload's address behind, with which the same file
// goes on where it stopped. Unlike other behaviours it asks the server by itself: a
// form can neither say how far it is nor go on.
let loading // the tus client, fetched when the first file goes up

export async function tus() {
  loading ??= import("../dist/tus.min.js").then(() => window.tus)
  return loading
}

// onceFree runs f once no tab sends the file that a fingerprint names, and keeps it so
// meanwhile. Pages that are not secure have no locks, and do without.
export async function onceFree(fingerprint, signal, f) {
  if (!navigator.locks) return f()
  await navigator.locks.request(fingerprint, { signal }, f).catch((error) => { if (!signal.aborted) throw error })
}

const percent = (n, of) => Math.floor((of ? n / of : 0) * 100)

const size = (n) => n < 1 << 20 ? `${Math.ceil(n / 1024)} KB` : n < 1 << 30 ? `${(n / (1 << 20)).toFixed(n < 10 << 20 ? 1 : 0)} MB` : `${(n / (1 << 30)).toFixed(1)} GB`

const elsewhere = "This file is on its way already, here or in another tab. Try again once that has ended."

// The waits after a fault, in milliseconds. A connection that is known to be lost is
// waited for.
const delays = [0, 1000, 3000, 5000, 10000, 20000, 30000]

// Each request carries at most so much, since proxies bound a body.
const chunk = 64 << 20

class UploadLine extends HTMLElement {
  #upload
  #off
  #status = 0
  #free // lets the file go
  file

  get state() { return this.dataset.state ?? "waiting" }
  get over() { return ["done", "refused", "cancelled"].includes(this.state) }

  connectedCallback() {
    this.#off = new AbortController()
    const { signal } = this.#off
    this.addEventListener("click", (e) => this.#click(e), { signal })
    window.addEventListener("offline", () => { if (this.state === "sending") this.#lost() }, { signal })
    window.addEventListener("online", () => { if (this.state === "lost") this.#start() }, { signal })
  }

  disconnectedCallback() { this.#off.abort() }

  // take gives the line its file; send begins.
  take(file) {
    this.file = file
    this.#name(file.name)
    this.#show("waiting", `Waiting, ${size(file.size)}`)
  }

  // left makes the line one of a file that was not sent whole by a tab that is gone.
  left(entry) {
    this.entry = entry
    this.#name(entry.metadata.filename)
    this.#show("left", `Not here whole yet, ${size(entry.size)}. Choose the file again, and it goes on where it stopped.`)
  }

  async send(endpoint, client) {
    this.#show("sending", "Starting")
    let lib
    try {
      lib = await tus()
    } catch {
      return this.#end("refused", "The part of Herald that uploads could not be loaded. Reload the page.")
    }
    this.#upload = new lib.Upload(this.file, this.#options(lib, endpoint, client))
    this.#start()
  }

  #options({ defaultOptions }, endpoint, client) {
    const kept = defaultOptions.urlStorage
    return {
      endpoint, chunkSize: chunk, retryDelays: delays, removeFingerprintOnSuccess: true,
      metadata: { filename: this.file.name, client },
      fingerprint: (f) => Promise.resolve(["herald", endpoint, client, f.name, f.size, f.lastModified].join(" ")),
      // Who is signed out and signs in again goes on: the address is kept.
      urlStorage: {
        findAllUploads: () => kept.findAllUploads(),
        findUploadsByFingerprint: (f) => kept.findUploadsByFingerprint(f),
        addUpload: (f, u) => kept.addUpload(f, u),
        removeUpload: (key) => this.#status === 401 ? Promise.resolve() : kept.removeUpload(key),
      },
      onAfterResponse: (_, answer) => { this.#status = answer.getStatus() },
      onProgress: (sent, all) => this.#progress(sent, all),
      onSuccess: ({ lastResponse }) => this.#done(lastResponse),
      onError: (error) => this.#failed(error),
    }
  }

  // hold keeps other lines and other tabs from sending the same file, until this one
  // ends. It says whether none of them does.
  async #hold() {
    if (this.#free || !navigator.locks) return true
    const name = await this.#upload.options.fingerprint(this.file)
    return new Promise((told) => navigator.locks.request(name, { ifAvailable: true }, (lock) => {
      told(lock !== null)
      return lock && new Promise((free) => { this.#free = () => { this.#free = null; free() } })
    }))
  }

  // start goes on where this line stopped, or a tab that is gone.
  async #start() {
    const mine = await this.#hold()
    const [before] = this.#upload.url || !mine ? [] : await this.#upload.findPreviousUploads()
    if (this.state === "cancelled") return this.#free?.()
    if (!mine) return this.#stop("stopped", elsewhere)
    if (before) {
      this.#upload.resumeFromPreviousUpload(before)
      this.#tell("upload-resumed", before)
    }
    this.#show("sending", this.querySelector("progress").value > 0 ? "Going on" : "Starting")
    this.#upload.start()
  }

  #progress(sent, all) {
    if (this.state !== "sending") return
    const bar = this.querySelector("progress")
    bar.value = percent(sent, all)
    this.#show("sending", sent === all ? "Nearly there" : `${percent(sent, all)} % of ${size(all)}`)
  }

  #done(answer) {
    const again = answer.getHeader("Herald-Again") === "1"
    this.querySelector("progress").value = 100
    this.#end("done", again ? "The client’s library had this file already; it is the same one." : "In the library, being checked")
    this.#tell("upload-arrived", { media: answer.getHeader("Herald-Media"), again })
  }

  #failed(error) {
    const answer = error.originalResponse
    if (!answer && !navigator.onLine) return this.#lost()
    if (!answer) return this.#stop("stopped", "Herald cannot be reached. Try again, and it goes on where it stopped.")
    const say = answer.getHeader("Content-Type")?.startsWith("text/plain") ? answer.getBody().trim() : ""
    if (say.startsWith("ERR_UPLOAD_INTERRUPTED")) return this.#stop("stopped", elsewhere) // by a page without locks
    const final = answer.getStatus() >= 400 && answer.getStatus() < 500 && ![401, 409, 423, 429].includes(answer.getStatus())
    this.#stop(final ? "refused" : "stopped", say || "Something broke on our side. Try again, and it goes on where it stopped.")
  }

  // lost waits for the connection, and does not for what was sent into nowhere.
  #lost() {
    this.#show("lost", "The connection is lost. It goes on by itself.")
    this.#upload?.abort()
  }

  #stop(state, say) {
    this.#end(state, say)
    if (state === "refused") this.#forget() // the server has given it up
  }

  #click(e) {
    if (e.target.closest('[data-action="retry-upload"]')) {
      this.#tell("upload-retried")
      if (this.#upload) this.#start()
    }
    if (e.target.closest('[data-action="cancel-upload"]')) this.cancel()
  }

  // cancel gives the upload up, here and at the server. A line that is over goes.
  async cancel() {
    if (this.over) return this.#leave()
    if (this.state === "left") {
      const { Upload, defaultOptions } = await tus()
      await Upload.terminate(this.entry.uploadUrl).catch(() => {})
      await defaultOptions.urlStorage.removeUpload(this.entry.urlStorageKey)
      return this.#leave()
    }
    this.#end("cancelled", "Cancelled")
    await this.#upload?.abort()
    if (this.#upload?.url) await this.#giveUp()
  }

  // giveUp tells the server, and forgets the address. A file that was whole by then
  // is in the library.
  async #giveUp() {
    const { Upload } = await tus()
    const { url, options } = this.#upload
    const answer = await Upload.terminate(url, { ...options, retryDelays: null }).catch((e) => e.originalResponse)
    if (answer?.getStatus() !== 409) return this.#forget()
    this.#show("sending", "Nearly there")
    this.#start()
  }

  async #forget() {
    const { defaultOptions } = await tus()
    for (const one of await this.#upload.findPreviousUploads()) {
      if (one.uploadUrl === this.#upload.url) await defaultOptions.urlStorage.removeUpload(one.urlStorageKey)
    }
  }

  #leave() {
    const list = this.closest("li")
    this.#tell("upload-left")
    list.remove()
  }

  #name(raw) {
    const name = raw.replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "") // signs that turn what follows around
    this.querySelector("[data-name]").textContent = name
    this.querySelector("progress").setAttribute("aria-label", name)
    for (const b of this.querySelectorAll("[data-says]")) this.#call(b, b.dataset.says)
  }

  // call gives a button its name, for the eye and for the ear.
  #call(button, says) {
    button.title = says
    button.querySelector(".hidden-text").textContent = `${says}: ${this.querySelector("[data-name]").textContent}`
  }

  #show(state, say) {
    this.dataset.state = state
    const at = this.querySelector("[data-say]")
    if (at.textContent !== say) at.textContent = say
    this.querySelector('[data-action="retry-upload"]').hidden = state !== "stopped"
    const cancel = this.querySelector('[data-action="cancel-upload"]')
    this.#call(cancel, this.over ? cancel.dataset.after : cancel.dataset.says)
  }

  #end(state, say) {
    this.#show(state, say)
    this.#free?.()
    this.#tell("upload-ended")
  }

  #tell(type, detail) { this.dispatchEvent(new CustomEvent(type, { bubbles: true, detail })) }
}
customElements.define("upload-line", UploadLine)
