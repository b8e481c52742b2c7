import { readFileSync } from 'node:fs'
import { Secret } from '@sandyard/kit/config/secret'
import { writePrivateFile } from './write-private-file.ts'

/** The raw credentials of the first team. The database contains only hashes, so this file is the only copy. */
export interface Credentials {
  readonly apiKey: Secret
  readonly accessToken: Secret
}

const HEAD = '# The credentials of this server, made at its first start. They give access to all of its sandboxes.\n'
const API_KEY = /^E2B_API_KEY=(e2b_[0-9a-f]{40})$/m
const ACCESS_TOKEN = /^E2B_ACCESS_TOKEN=(sk_e2b_[0-9a-f]{40})$/m

/** Undefined when the file is absent or does not contain both. */
export function findCredentials(file: string): Credentials | undefined {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw err
  }
  const apiKey = API_KEY.exec(text)?.[1]
  const accessToken = ACCESS_TOKEN.exec(text)?.[1]
  if (apiKey === undefined || accessToken === undefined) return undefined
  return { apiKey: new Secret(apiKey), accessToken: new Secret(accessToken) }
}

/** Stores the credentials for later starts, readable by the file's owner only. */
export function keepCredentials(file: string, raw: { readonly apiKey: string; readonly accessToken: string }): Credentials {
  writePrivateFile(file, `${HEAD}E2B_API_KEY=${raw.apiKey}\nE2B_ACCESS_TOKEN=${raw.accessToken}\n`)
  return { apiKey: new Secret(raw.apiKey), accessToken: new Secret(raw.accessToken) }
}
