/** The server under test, and the browser's program. The gate prepares both and names them in the environment. */
export const server = {
  apiUrl: fromEnvironment('E2B_API_URL'),
  sandboxUrl: fromEnvironment('E2B_SANDBOX_URL'),
  apiKey: fromEnvironment('E2B_API_KEY'),
  adminToken: fromEnvironment('SANDYARD_TEST_ADMIN_TOKEN'),
  dataDirectory: fromEnvironment('SANDYARD_TEST_DATA_DIR'),
} as const

export const browserProgram = fromEnvironment('SANDYARD_TEST_BROWSER')

export const dashboardUrl = `${server.apiUrl}/dashboard`

/** @throws Error that says how to start the tests if `name` is not set */
export function fromEnvironment(name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') {
    throw new Error(
      `${name} is not set: run the tests with \`npm test -- --only browser\`, which starts a server and names it in the environment.`,
    )
  }
  return value
}

/** Calls the control plane with the team's key, as a client outside the browser does. @throws Error with the answer */
export async function api<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${server.apiUrl}${path}`, {
    method,
    headers: { 'x-api-key': server.apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return (text === '' ? undefined : JSON.parse(text)) as Answer
}
