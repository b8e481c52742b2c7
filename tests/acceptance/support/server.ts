/** The server under test. The gate starts it and passes its addresses and keys in the environment. */
export const server = {
  apiUrl: fromEnvironment('E2B_API_URL'),
  sandboxUrl: fromEnvironment('E2B_SANDBOX_URL'),
  apiKey: fromEnvironment('E2B_API_KEY'),
} as const

/** @throws Error that explains how to start a server if `name` is not set */
export function fromEnvironment(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: run the tests with \`npm test\`, which starts a server and names it in the environment.`)
  }
  return value
}
