import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { isMutating, type Operation } from '@sandyard/api-contract/operation'
import { AppError } from '@sandyard/kit/errors/app-error'

const CONNECTING: ReadonlySet<string> = new Set(['connectSandbox', 'connectSandboxV2', 'getSandbox', 'listSandboxes', 'listSandboxesV2'])
const BUILD_TAGS: ReadonlySet<string> = new Set(['templates', 'builds', 'tags'])
/** Its answer is a link that lets its holder write. */
const GIVES_WRITE = 'getTemplateFiles'

const ALLOWS: Readonly<Record<KeyScope, (operation: Operation) => boolean>> = {
  connect: ({ id }) => CONNECTING.has(id),
  read: (operation) => !isMutating(operation) && operation.id !== GIVES_WRITE,
  build: ({ tag }) => BUILD_TAGS.has(tag),
}

const WORDS: Readonly<Record<KeyScope, string>> = { connect: 'connect to sandboxes', read: 'read', build: 'build templates' }

/**
 * Scopes of API keys are an addition of this server; without one a key may call every operation.
 *
 * @throws AppError `permission_denied` for an operation outside the scope
 */
export function checkScope(scope: KeyScope | undefined, operation: Operation): void {
  if (scope === undefined || ALLOWS[scope](operation)) return
  throw new AppError('permission_denied', `This API key may only ${WORDS[scope]}.`)
}

/**
 * Snapshots of sandboxes are templates, too: a key that may only build reads them and builds on them, and does not change them.
 *
 * @throws AppError `permission_denied` for a change of a template that a snapshot made
 */
export function checkTemplateScope(scope: KeyScope | undefined, { isSnapshot }: { readonly isSnapshot: boolean }): void {
  if (scope !== 'build' || !isSnapshot) return
  throw new AppError('permission_denied', 'This API key may only build templates, and not change those of snapshots.')
}
