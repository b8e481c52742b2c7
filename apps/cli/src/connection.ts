import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { findCredentials } from '@sandyard/api/program/data/credentials'
import { describeDataDirectory, type DataDirectory } from '@sandyard/api/program/data/data-directory'
import { localUrl } from '@sandyard/api/program/listening'
import type { Secret } from '@sandyard/kit/config/secret'
import type { CliConfig } from './config.ts'
import { EXIT } from './exit-codes.ts'
import { CliFailure } from './fail.ts'

/** How this process reaches a server. */
export interface Connection {
  /** Without a slash at its end. */
  readonly apiUrl: string
  readonly sandboxUrl: string
  /** What clients elsewhere use; `apiUrl` unless SANDYARD_API_URL is set. */
  readonly publicApiUrl: string
  /** Undefined when neither the environment nor a data directory has one. */
  readonly apiKey: Secret | undefined
  readonly adminToken: Secret | undefined
  /** The data directory of a server on this machine, if one was found. */
  readonly directory: DataDirectory | undefined
}

/**
 * Finds the server: E2B_API_KEY, E2B_API_URL and E2B_SANDBOX_URL, each by itself; then the data directory for the key, and the ports of the
 * settings for the URLs (dashboard-and-cli.md 6).
 */
export function findConnection(config: CliConfig, cwd: string): Connection {
  const dataDir = findDataDirectory(config, cwd)
  const directory = dataDir === undefined ? undefined : describeDataDirectory(dataDir)
  const apiUrl = urlOf('E2B_API_URL', config.apiUrl) ?? urlOfPort(config, 'apiPort')
  return {
    apiUrl,
    sandboxUrl: urlOf('E2B_SANDBOX_URL', config.sandboxUrl) ?? urlOfPort(config, 'proxyPort'),
    publicApiUrl: config.apiUrl === undefined ? (urlOf('SANDYARD_API_URL', config.publicApiUrl) ?? apiUrl) : apiUrl,
    apiKey: config.apiKey ?? keyOf(directory),
    adminToken: config.adminToken,
    directory,
  }
}

/** @throws CliFailure `refused` when there is none */
export function requireApiKey({ apiKey }: Connection): Secret {
  if (apiKey !== undefined) return apiKey
  throw new CliFailure(
    EXIT.refused,
    'There is no API key: set E2B_API_KEY, or run this where .sandyard/credentials is, or name that folder with SANDYARD_DATA_DIR.',
  )
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

function urlOfPort(config: CliConfig, name: 'apiPort' | 'proxyPort'): string {
  return localUrl(config.bind, config[name])
}
