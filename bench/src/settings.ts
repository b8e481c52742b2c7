import { resolve } from 'node:path'

/** The measured server, with the settings of any client of the SDKs. The engine is the one of this machine. */
export interface Settings {
  readonly apiUrl: string
  readonly apiKey: string
  readonly sandboxUrl: string
  /** The access token of a user. Measurements that need one are skipped without it. */
  readonly accessToken: string | undefined
  /** Absolute path of another daemon's binary (README.md). What is compared with it is skipped without it. */
  readonly reference: string | undefined
}

/** @throws Error that says how to get a server */
export function readSettings(environment: NodeJS.ProcessEnv, reference: string | undefined): Settings {
  const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl, E2B_ACCESS_TOKEN: accessToken } = environment
  if (!apiKey || !apiUrl || !sandboxUrl) {
    throw new Error(
      'The benchmarks need a running server: run `npm start`, copy its three `export E2B_...` lines into this shell, and run this again.',
    )
  }
  return {
    apiUrl,
    apiKey,
    sandboxUrl,
    accessToken: accessToken === '' ? undefined : accessToken,
    reference: reference === undefined ? undefined : resolve(reference),
  }
}
