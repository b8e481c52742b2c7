const LIMIT = 200

/** Truncates client text to 200 characters for error messages and logs: bodies can be much larger. */
export function shorten(text: string): string {
  return text.length <= LIMIT ? text : `${text.slice(0, LIMIT).toWellFormed()}...`
}
