import { requireApiKey, type Connection } from './connection.ts'

export const SHELLS = ['sh', 'fish', 'powershell', 'dotenv'] as const
export type Shell = (typeof SHELLS)[number]

/** How a shell sets a variable for the programs that it starts. */
const LINE: Readonly<Record<Shell, (name: string, value: string) => string>> = {
  sh: (name, value) => `export ${name}=${quoteSh(value)}`,
  fish: (name, value) => `set -gx ${name} '${value.replaceAll(/['\\]/g, String.raw`\$&`)}'`,
  powershell: (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
  dotenv: (name, value) => `${name}=${/^[\w:/.@%-]*$/.test(value) ? value : `"${value.replaceAll(/["\\$]/g, String.raw`\$&`)}"`}`,
}

/** The line with which a shell sets a variable. */
export function envLine(shell: Shell, name: string, value: string): string {
  return LINE[shell](name, value)
}

/** A plain value stays as it is, so that the line reads like the one that `npm start` prints. */
function quoteSh(value: string): string {
  return /^[\w:/.@%-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}

/** The settings that any E2B SDK reads. */
export interface ClientSettings {
  readonly E2B_API_KEY: string
  readonly E2B_API_URL: string
  readonly E2B_SANDBOX_URL: string
  /** Of the content of volumes. */
  readonly E2B_VOLUME_API_URL: string
}

/** @throws CliFailure `refused` without a key; `usage` without a URL */
export function clientSettings(connection: Connection): ClientSettings {
  const { apiUrl, sandboxUrl } = connection.clients
  return { E2B_API_KEY: requireApiKey(connection).reveal(), E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl, E2B_VOLUME_API_URL: apiUrl }
}
