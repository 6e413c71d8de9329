// data-action="copy": puts data-copy on the clipboard and says so for a moment.
document.addEventListener("click", async (e) => {
  const button = e.target.closest('[data-action="copy"]')
  if (!button) return
  try {
    await navigator.clipboard.writeText(button.dataset.copy)
  } catch {
    return // not allowed here: the text stands beside the button anyway
  }
  const label = button.title
  button.dataset.done = ""
  button.title = "Copied"
  setTimeout(() => {
    delete button.dataset.done
    button.title = label
  }, 1500)
})
