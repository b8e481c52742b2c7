/** What the encrypted value of a version of a secret is bound to: a copy of the row under another secret or version does not open. */
export function secretPlace(secretId: string, version: number): string {
  return `secret ${secretId} ${version}`
}
