import type { ActionCode } from '../../parts/action-code.ts'
import { me } from '../../session/me.ts'
import { curlText } from '../sandbox/sandbox-code.ts'

/** An action on several sandboxes, in code. */
export function bulkCode(action: 'kill' | 'pause', ids: readonly string[]): ActionCode {
  const names = ids.map((id) => `'${id}'`).join(', ')
  return {
    cli: `sandyard ${action} ${ids.join(' ')}`,
    javascript: `import { Sandbox } from 'e2b'\n\nawait Promise.all([${names}].map((id) => Sandbox.${action}(id)))`,
    python: `from e2b import Sandbox\n\nfor sandbox_id in [${names}]:\n    Sandbox.${action}(sandbox_id)`,
    curl: ids
      .map((id) =>
        curlText(me.value?.server, action === 'kill' ? 'DELETE' : 'POST', `/sandboxes/${id}${action === 'kill' ? '' : '/pause'}`),
      )
      .join('\n'),
  }
}
