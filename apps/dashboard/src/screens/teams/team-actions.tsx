import { useState } from 'preact/hooks'
import type { TeamDetail } from '@sandyard/dashboard-contract/teams'
import { call } from '../../api/call.ts'
import { wire } from '../../api/wire.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { FormField } from '../../parts/form-field.tsx'
import { toast } from '../../parts/toasts.tsx'
import { shellWord } from '../../parts/wire-code.ts'
import { me } from '../../session/session.ts'
import { teamsTexts as texts } from '../../texts/teams-texts.ts'

/** What operators do with a team. */
export function TeamActions({ team, onChanged }: { readonly team: TeamDetail; readonly onChanged: () => void }) {
  const [isBlocking, setBlocking] = useState(false)
  const { teamId, name, slug } = team
  const change = (body: object): Promise<void> => wire('PATCH', `/admin/teams/${teamId}`, { body }).then(onChanged)
  const workAs = async (): Promise<void> => {
    me.value = await call('POST /me/team', { body: { teamId } })
  }
  return (
    <>
      {me.value?.team?.teamId === teamId ? (
        <span class="badge badge-accent">{texts.current}</span>
      ) : (
        <ActionButton done={texts.workingAs} run={workAs}>
          {texts.workAs}
        </ActionButton>
      )}
      {team.isBlocked ? (
        <ActionButton
          done={texts.unblockedNow}
          code={{ cli: `sandyard teams unblock ${slug}` }}
          run={() => change({ isBlocked: false, blockedReason: null })}
        >
          {texts.unblock}
        </ActionButton>
      ) : (
        <button type="button" class="button" onClick={() => setBlocking(true)}>
          {texts.block}
        </button>
      )}
      <ActionButton
        kind="danger"
        done={texts.killed}
        confirm={{ title: texts.killTitle(name), text: texts.killText, button: texts.killButton }}
        code={{ cli: `sandyard teams kill ${slug} --yes` }}
        run={() => wire('POST', `/admin/teams/${teamId}/sandboxes/kill`).then(onChanged)}
      >
        {texts.kill}
      </ActionButton>
      {isBlocking && (
        <BlockDialog
          team={team}
          onClose={() => setBlocking(false)}
          onBlock={(reason) => change({ isBlocked: true, blockedReason: reason })}
        />
      )}
    </>
  )
}

interface BlockDialogProps {
  readonly team: TeamDetail
  readonly onClose: () => void
  readonly onBlock: (reason: string) => Promise<void>
}

function BlockDialog({ team, onClose, onBlock }: BlockDialogProps) {
  const [reason, setReason] = useState('')
  const submit = async (): Promise<void> => {
    await onBlock(reason.trim())
    toast('done', texts.blockedNow)
  }
  return (
    <FormDialog
      title={texts.blockTitle(team.name)}
      button={texts.blockButton}
      kind="danger"
      code={{ cli: `sandyard teams block ${team.slug} --reason ${shellWord(reason)}` }}
      onClose={onClose}
      onSubmit={submit}
    >
      <p>{texts.blockText}</p>
      <FormField label={texts.blockReason} value={reason} onChange={setReason} isRequired maxLength={500} />
    </FormDialog>
  )
}
