import type { CreatedTeamApiKey } from '@sandyard/api-contract/credentials/api-key'
import { copyAndSay } from '../../parts/copy-and-say.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { me } from '../../session/session.ts'
import { keysTexts as texts } from '../../texts/keys-texts.ts'

/** The only place where the key is readable. */
export function CreatedKeyDialog({ created, onClose }: { readonly created: CreatedTeamApiKey; readonly onClose: () => void }) {
  const lines = linesOf(created.key)
  return (
    <Dialog title={texts.createdTitle(created.name)} onClose={onClose}>
      <div class="stack">
        <p class="notice notice-warn">{texts.shownOnce}</p>
        {/* A region that scrolls must be reached by the keyboard. */}
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
        <pre class="code-block" role="region" aria-label={texts.asLines} tabIndex={0}>
          {lines}
        </pre>
        <div class="dialog-buttons">
          <button type="button" class="button" onClick={() => void copyAndSay(lines)}>
            {texts.copy}
          </button>
          <button type="button" class="button button-primary" onClick={onClose}>
            {texts.done}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

function linesOf(key: string): string {
  const server = me.value?.server
  return [
    `export E2B_API_KEY=${key}`,
    ...(server === undefined ? [] : [`export E2B_API_URL=${server.apiUrl}`, `export E2B_SANDBOX_URL=${server.sandboxUrl}`]),
  ].join('\n')
}
