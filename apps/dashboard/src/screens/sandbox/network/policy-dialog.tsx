import type { SandboxNetworkUpdate } from '@sandyard/api-contract/sandboxes/network'
import type { NetworkView } from '@sandyard/dashboard-contract/sandboxes'
import { useState } from 'preact/hooks'
import type { ActionCode } from '../../../parts/action-button.tsx'
import { CopyCode } from '../../../parts/copy-code.tsx'
import { Dialog } from '../../../parts/dialog.tsx'
import { runAction } from '../../../parts/run-action.ts'
import { networkTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { entriesOf } from './policy-update.ts'
import '../../../styles/forms.css'

interface Props {
  readonly view: NetworkView
  readonly codeOf: (update: SandboxNetworkUpdate) => ActionCode
  readonly onSave: (update: SandboxNetworkUpdate) => Promise<unknown>
  readonly onClose: () => void
}

export function PolicyDialog({ view, codeOf, onSave, onClose }: Props) {
  const [isOn, setOn] = useState(view.allowInternetAccess)
  const [allowOut, setAllowOut] = useState(view.allowOut.join('\n'))
  const [denyOut, setDenyOut] = useState(view.denyOut.join('\n'))
  const [dns, setDns] = useState(view.dnsServers.join('\n'))
  const dnsServers = entriesOf(dns)
  const update: SandboxNetworkUpdate = {
    allowOut: entriesOf(allowOut),
    denyOut: entriesOf(denyOut),
    ...(dnsServers.length > 0 && { dnsServers }),
    ...(!isOn && { allow_internet_access: false }),
  }
  const save = async (): Promise<void> => {
    if (await runAction({ label: texts.editTitle, done: texts.saved, run: () => onSave(update) })) onClose()
  }
  return (
    <Dialog title={texts.editTitle} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <label class="check">
          <input type="checkbox" checked={isOn} onChange={(event) => setOn(event.currentTarget.checked)} />
          {texts.internet}
        </label>
        <Entries label={texts.allowOut} value={allowOut} onInput={setAllowOut} />
        <Entries label={texts.denyOut} value={denyOut} onInput={setDenyOut} />
        <Entries label={texts.dns} value={dns} onInput={setDns} />
        <p class="muted small">{texts.listHint}</p>
        <div class="dialog-buttons">
          <CopyCode code={codeOf(update)} label={texts.editTitle} />
          <button type="button" class="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button type="submit" class="button button-primary">
            {texts.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

interface EntriesProps {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
}

function Entries({ label, value, onInput }: EntriesProps) {
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <textarea class="input" rows={3} maxLength={65_536} value={value} onInput={(event) => onInput(event.currentTarget.value)} />
    </label>
  )
}
