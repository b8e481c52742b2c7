/** Whether the database and processes can store every text in a JSON value, keys included: without NUL and unpaired surrogates. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  return typeof value === 'object' && value !== null ? Object.entries(value).flat().every(isStorable) : true
}
