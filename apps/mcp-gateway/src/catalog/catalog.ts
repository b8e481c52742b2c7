export type Settings = Readonly<Record<string, unknown>>

/** A server that is a package of a registry and speaks over stdio. */
export interface CatalogServer {
  readonly registry: 'npm' | 'pypi'
  readonly package: string
  readonly version: string
  /** Versions of further packages, where the package does not say what it needs. */
  readonly with?: readonly string[]
  /** The program of the package. */
  readonly program: string
  /** Keys of the configuration that must be there. */
  readonly required?: readonly string[]
  /** Keys of the configuration and the environment variables that they become. */
  readonly environment?: Readonly<Record<string, string>>
  readonly arguments?: (settings: Settings) => readonly string[]
}

const npm = (name: string, version: string, program: string): CatalogServer => ({ registry: 'npm', package: name, version, program })
const pypi = (name: string, version: string): CatalogServer => ({ registry: 'pypi', package: name, version, program: name })
const reference = (name: string, version: string): CatalogServer =>
  npm(`@modelcontextprotocol/server-${name}`, version, `mcp-server-${name}`)
const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : [])

/**
 * Names of the catalog of the clients (the interface `McpServer` of the package `e2b`) that are packages of npm or PyPI, and `everything`,
 * which is the test server of the protocol. All other names of that catalog are images.
 */
export const CATALOG: Readonly<Record<string, CatalogServer>> = {
  brave: { ...reference('brave-search', '0.6.2'), required: ['apiKey'], environment: { apiKey: 'BRAVE_API_KEY' } },
  duckduckgo: pypi('duckduckgo-mcp-server', '0.7.0'),
  everart: { ...reference('everart', '0.6.2'), required: ['apiKey'], environment: { apiKey: 'EVERART_API_KEY' } },
  everything: { ...reference('everything', '2026.8.31'), arguments: () => ['stdio'] },
  fetch: pypi('mcp-server-fetch', '2026.10.24'),
  filesystem: { ...reference('filesystem', '2026.8.31'), required: ['paths'], arguments: ({ paths }) => texts(paths) },
  git: {
    ...pypi('mcp-server-git', '2026.10.19'),
    // The server takes one repository; with several paths each call names its own.
    arguments: ({ paths }) => (texts(paths).length === 1 ? ['--repository', ...texts(paths)] : []),
  },
  github: {
    ...reference('github', '2025.4.8'),
    required: ['personalAccessToken'],
    environment: { personalAccessToken: 'GITHUB_PERSONAL_ACCESS_TOKEN' },
  },
  gitlab: {
    ...reference('gitlab', '2025.4.25'),
    with: ['zod@3.23.8', 'zod-to-json-schema@3.23.5'],
    required: ['personalAccessToken'],
    environment: { personalAccessToken: 'GITLAB_PERSONAL_ACCESS_TOKEN', url: 'GITLAB_API_URL' },
  },
  googleMaps: {
    ...reference('google-maps', '0.6.2'),
    required: ['googleMapsApiKey'],
    environment: { googleMapsApiKey: 'GOOGLE_MAPS_API_KEY' },
  },
  memory: reference('memory', '2026.8.31'),
  sentry: {
    ...pypi('mcp-server-sentry', '2025.1.14'),
    with: ['mcp<2', 'httpx<1'],
    required: ['authToken'],
    environment: { authToken: 'SENTRY_TOKEN' },
  },
  sequentialthinking: reference('sequential-thinking', '2026.8.31'),
  slack: {
    ...reference('slack', '2025.4.25'),
    required: ['botToken', 'teamId'],
    environment: { botToken: 'SLACK_BOT_TOKEN', teamId: 'SLACK_TEAM_ID', channelIds: 'SLACK_CHANNEL_IDS' },
  },
  sqlite: { ...pypi('mcp-server-sqlite', '2025.4.25'), with: ['mcp<2'], arguments: () => ['--db-path', '/home/user/mcp.sqlite'] },
  time: { ...pypi('mcp-server-time', '2026.10.19'), arguments: () => ['--local-timezone', 'Etc/UTC'] },
}
