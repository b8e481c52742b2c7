/** The measured server, with the settings of any client of the SDKs. The engine is the one of this machine. */
export interface Settings {
  readonly apiUrl: string
  readonly apiKey: string
  readonly sandboxUrl: string
  /** The access token of a user. Measurements that need one are skipped without it. */
  readonly accessToken: string | undefined
  /** The metrics page of the server. */
  readonly metricsUrl: string
  /** Absolute path of the binary of another daemon, to compare with. */
  readonly reference: string | undefined
  /** Repetitions of benchmarks whose number can be chosen. */
  readonly count: number | undefined
}

const METRICS_URL = 'http://127.0.0.1:3001/metrics'

/** @throws Error that says how to get a server */
export function readSettings(environment: NodeJS.ProcessEnv, chosen: Pick<Settings, 'reference' | 'count'>): Settings {
  const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl, E2B_ACCESS_TOKEN: accessToken } = environment
  if (!apiKey || !apiUrl || !sandboxUrl) {
    throw new Error(
      'The benchmarks need a running server: run `npm start`, copy its three `export E2B_...` lines into this shell, and run this again.',
    )
  }
  const metricsUrl = environment['SANDYARD_METRICS_URL'] ?? METRICS_URL
  return { apiUrl, apiKey, sandboxUrl, accessToken: accessToken === '' ? undefined : accessToken, metricsUrl, ...chosen }
}
