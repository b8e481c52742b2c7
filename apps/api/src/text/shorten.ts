const LIMIT = 200

/** At most 200 characters of what a client sent, for messages that repeat it: bodies are larger than any log or answer should be. */
export function shorten(text: string): string {
  return text.length <= LIMIT ? text : `${text.slice(0, LIMIT).toWellFormed()}...`
}
