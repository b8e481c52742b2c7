import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findCredentials } from '@sandyard/api/program/data/credentials'
import { describeDataDirectory, type DataDirectory } from '@sandyard/api/program/data/data-directory'
import { localUrl } from '@sandyard/api/program/listening'
import type { Secret } from '@sandyard/kit/config/secret'
import type { CliConfig } from './config.ts'
import { EXIT } from './exit-codes.ts'
import { CliFailure } from './fail.ts'

/** How this process reaches a server. Reading a URL throws CliFailure `usage` when the settings do not have it. */
export interface Connection {
  /** Without a slash at its end. */
  readonly apiUrl: string
  readonly sandboxUrl: string
  /** What clients use. */
  readonly clients: { readonly apiUrl: string; readonly sandboxUrl: string }
  /** Undefined when neither the environment nor a data directory has one. */
  readonly apiKey: Secret | undefined
  /** Whether the key is that of E2B_API_KEY. */
  readonly isKeyGiven: boolean
  readonly adminToken: Secret | undefined
  /** The data directory of a server on this machine, if one was found. */
  readonly directory: DataDirectory | undefined
}

/**
 * Finds the server: E2B_API_KEY, E2B_API_URL and E2B_SANDBOX_URL, each by itself; then the data directory for the key, and the settings of
 * the servers for the URLs (dashboard-and-cli.md 6).
 */
export function findConnection(config: CliConfig, cwd: string): Connection {
  const dataDir = findDataDirectory(config, cwd)
  const directory = dataDir === undefined ? undefined : describeDataDirectory(dataDir)
  const given = { apiUrl: urlOf('E2B_API_URL', config.apiUrl), sandboxUrl: urlOf('E2B_SANDBOX_URL', config.sandboxUrl) }
  const internalUrl = urlOf('SANDYARD_PROXY_INTERNAL_URL', config.proxyInternalUrl)
  const publicUrl = { api: urlOf('SANDYARD_API_URL', config.publicApiUrl), sandbox: publicSandboxUrl(config) }
  return {
    get apiUrl() {
      return given.apiUrl ?? urlOfPort(config, 'api')
    },
    get sandboxUrl() {
      return given.sandboxUrl ?? internalUrl ?? urlOfPort(config, 'sandbox')
    },
    get clients() {
      return {
        apiUrl: given.apiUrl ?? publicUrl.api ?? urlOfPort(config, 'api'),
        sandboxUrl: given.sandboxUrl ?? publicUrl.sandbox ?? urlOfPort(config, 'sandbox'),
      }
    },
    apiKey: config.apiKey ?? keyOf(directory),
    isKeyGiven: config.apiKey !== undefined,
    adminToken: config.adminToken,
    directory,
  }
}

/** @throws CliFailure `refused` when there is none */
export function requireApiKey({ apiKey }: Pick<Connection, 'apiKey'>): Secret {
  if (apiKey !== undefined) return apiKey
  throw new CliFailure(
    EXIT.refused,
    'There is no API key: set E2B_API_KEY, or run this where .sandyard/credentials is, or name that folder with SANDYARD_DATA_DIR.',
  )
}

/** @throws CliFailure `refused` when there is none */
export function requireAdminToken({ adminToken }: Partial<Pick<Connection, 'adminToken'>>): Secret {
  if (adminToken !== undefined) return adminToken
  throw new CliFailure(EXIT.refused, 'This is for administrators: set SANDYARD_ADMIN_TOKEN to the token of the server.')
}

/**
 * SANDYARD_DATA_DIR, else the nearest `.sandyard` with credentials in the working directory and above, else that of the checkout to which
 * this program belongs.
 */
function findDataDirectory(config: CliConfig, cwd: string): string | undefined {
  if (config.dataDir !== undefined) return resolve(cwd, config.dataDir)
  return findUpwards(cwd) ?? findUpwards(import.meta.dirname)
}

function findUpwards(from: string): string | undefined {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const candidate = join(folder, '.sandyard')
    if (existsSync(join(candidate, 'credentials'))) return candidate
    if (folder === dirname(folder)) return undefined
  }
}

function keyOf(directory: DataDirectory | undefined): Secret | undefined {
  try {
    return directory && findCredentials(directory.credentialsFile)?.apiKey
  } catch {
    // The file of another user: the commands that need a key say so.
    return undefined
  }
}

function urlOf(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  if (!URL.canParse(text) || !/^https?:/.test(text)) throw new CliFailure(EXIT.usage, `${name} is not a URL of http or https: "${text}".`)
  return text.replace(/\/+$/, '')
}

/** @throws CliFailure `usage` for port 0, which stands for a port that only the server knows */
function urlOfPort({ bind, apiPort, proxyPort }: CliConfig, name: 'api' | 'sandbox'): string {
  const port = name === 'api' ? apiPort : proxyPort
  if (port !== 0) return localUrl(bind, port)
  const [setting, url] = name === 'api' ? ['SANDYARD_API_PORT', 'E2B_API_URL'] : ['SANDYARD_PROXY_PORT', 'E2B_SANDBOX_URL']
  throw new CliFailure(EXIT.usage, `${setting} is 0, so only the server knows its port: set ${url} to the URL that it has printed.`)
}

/** Behind TLS: the name below the domain at which a header names the sandbox (control-plane.md 19.1). */
function publicSandboxUrl({ publicApiUrl, domain }: CliConfig): string | undefined {
  return (publicApiUrl ?? '').startsWith('https:') && domain !== undefined ? `https://sandbox.${domain}` : undefined
}
