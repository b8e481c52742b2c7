import { globSync, readFileSync } from 'node:fs'
import { OPERATIONS } from '@sandyard/api-contract/operations'
import { PROXY_FORMS } from './operations.ts'

const SERVICES = [
  { typeName: 'process.Process', file: 'apps/daemon/src/process/service.ts' },
  { typeName: 'filesystem.Filesystem', file: 'apps/daemon/src/filesystem/service.ts' },
]
const ROUTE = /\boperation\('(\w+)'/g
const DAEMON_ROUTE = /\.(get|post)\(\s*'(\/[\w/]+)'/g
/** A method of a service object: `stat: async (...)`, `start(request, ...)`, `sendInput,`. */
const METHOD = /^ {4}(?:async )?\*?(\w+)(?:[:(]|,$)/gm

/** The ids of the operations that have a handler. */
export function findServed(root: string): Set<string> {
  const served = new Set<string>(PROXY_FORMS)
  const routes = read(root, 'apps/api/src/**/*.ts').flatMap((text) => [...text.matchAll(ROUTE)].map((match) => match[1]))
  for (const { id, method, path } of OPERATIONS) if (routes.includes(id)) served.add(`${method} ${path}`)
  for (const { typeName, file } of SERVICES) {
    for (const [, name = ''] of readFileSync(`${root}/${file}`, 'utf8').matchAll(METHOD)) served.add(`${typeName}/${capitalize(name)}`)
  }
  for (const text of read(root, 'apps/daemon/src/**/*.ts')) {
    for (const [, method = '', path = ''] of text.matchAll(DAEMON_ROUTE)) served.add(`daemon ${method.toUpperCase()} ${path}`)
  }
  return served
}

function read(root: string, pattern: string): string[] {
  return globSync(pattern, { cwd: root }).map((file) => readFileSync(`${root}/${file}`, 'utf8'))
}

function capitalize(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1)
}
