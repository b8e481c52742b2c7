export interface ReadyFacts {
  readonly apiUrl: string
  /** Logs in once; undefined when the dashboard is off. */
  readonly dashboardLink: string | undefined
  readonly proxyUrl: string
  readonly metricsUrl: string
  /** The domain of the sandboxes' host names. */
  readonly domain: string
  readonly team: string
  readonly user: string
  readonly apiKey: string
  readonly accessToken: string
  readonly credentialsFile: string
  /** Undefined when the log is on standard output. */
  readonly logFile: string | undefined
}

/** The text for a person when the server is ready. The indented `export` lines can be copied into a shell unchanged. */
export function readyText(facts: ReadyFacts): string {
  const { apiUrl, dashboardLink, proxyUrl, metricsUrl, domain, team, user, apiKey, accessToken, credentialsFile, logFile } = facts
  const dashboard =
    dashboardLink === undefined
      ? ''
      : `  Dashboard  ${dashboardLink}\n             (works once, within a minute; later: sandyard dashboard)\n`
  return `
Sandyard is ready.

  API        ${apiUrl}
${dashboard}\
  Sandboxes  ${proxyUrl}  (in a browser: http://{port}-{sandboxID}.${domain})
  Metrics    ${metricsUrl}/metrics
  Team       ${team}
  User       ${user}
  Keys in    ${credentialsFile}
  Log in     ${logFile ?? 'this output'}

Any E2B SDK uses it with these settings:

  export E2B_API_KEY=${apiKey}
  export E2B_API_URL=${apiUrl}
  export E2B_SANDBOX_URL=${proxyUrl}
  export E2B_VOLUME_API_URL=${apiUrl}

Clients that log in with an access token (older CLIs) take this one too:

  export E2B_ACCESS_TOKEN=${accessToken}

Ctrl-C stops the server.
`
}
