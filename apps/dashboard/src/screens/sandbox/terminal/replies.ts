/**
 * What a terminal answers to questions in a program's output: device attributes, cursor position, colours, modes. Output that is shown again after a
 * reload has old questions, and their answers must not be typed into the shell a second time.
 */
const REPLY = new RegExp(
  String.raw`^(?:\x1b\[[?>=]?[\d;]*(?:c|R|n|\$y)|\x1b\](?:4;\d+|1[0-9]);[^\x07\x1b]*(?:\x07|\x1b\\)|\x1bP[^\x1b]*\x1b\\|\x1b\[[IO])+$`,
)

export function isReply(data: string): boolean {
  return REPLY.test(data)
}

/** Addresses that a click may open, after a question. */
export function isWebLink(text: string): boolean {
  try {
    const { protocol } = new URL(text)
    return protocol === 'http:' || protocol === 'https:'
  } catch {
    return false
  }
}
