// A button with data-action="split-here" splits what stands in data-box at the caret: a
// line of three hyphens goes there, of which the server makes two posts. It never
// comes between what the eye sees as one character.
const seen = new Intl.Segmenter(undefined, { granularity: "grapheme" })

document.addEventListener("click", (e) => {
  const button = e.target.closest?.('[data-action="split-here"]')
  const box = button && document.getElementById(button.dataset.box)
  if (!box) return
  const text = box.value
  const at = seen.segment(text).containing(box.selectionStart)?.index ?? text.length
  box.value = `${text.slice(0, at).trimEnd()}\n---\n${text.slice(at).trimStart()}`
}, { capture: true })
