import type { DescService } from '@bufbuild/protobuf'
import { OPERATIONS } from '@sandyard/api-contract/operations'
import { Filesystem } from '@sandyard/daemon-protocol/filesystem/filesystem_pb'
import { Process } from '@sandyard/daemon-protocol/process/process_pb'

/** One row of `docs/compatibility.md`: an operation of the wire, by the name that test titles contain in brackets. */
export interface Row {
  readonly id: string
  readonly isDeprecated: boolean
}

export interface Area {
  readonly title: string
  readonly rows: readonly Row[]
}

const DAEMON_ROUTES = ['GET /health', 'GET /metrics', 'GET /envs', 'POST /init', 'GET /files', 'POST /files', 'POST /files/compose']
/** What the proxy serves. */
export const PROXY_FORMS = [
  'proxy host form',
  'proxy header form',
  'proxy signed URL',
  'proxy upgrade',
  'proxy traffic token',
  'proxy masked host',
  'proxy resume by traffic',
]

/** Every operation that clients call, by part of the server. */
export function listAreas(): Area[] {
  const tags = [...new Set(OPERATIONS.map(({ tag }) => tag))]
  return [
    ...tags.map((tag) => ({
      title: `Control plane: ${tag}`,
      rows: OPERATIONS.filter((operation) => operation.tag === tag).map((operation) => ({
        id: `${operation.method} ${operation.path}`,
        isDeprecated: 'deprecated' in operation,
      })),
    })),
    { title: 'Daemon: routes', rows: DAEMON_ROUTES.map((route) => current(`daemon ${route}`)) },
    { title: 'Daemon: process', rows: methods(Process) },
    { title: 'Daemon: filesystem', rows: methods(Filesystem) },
    { title: 'Sandbox proxy', rows: PROXY_FORMS.map(current) },
  ]
}

function methods(service: DescService): Row[] {
  return service.methods.map((method) => current(`${service.typeName}/${method.name}`))
}

function current(id: string): Row {
  return { id, isDeprecated: false }
}
