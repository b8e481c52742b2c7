import { useState } from 'preact/hooks'
import { CopyCode } from '../../../parts/copy-code.tsx'
import { terminalTexts as texts } from '../../../texts/sandbox-terminal-texts.ts'
import { openShellCode } from '../inside-code.ts'
import '../../../styles/forms.css'

export interface NewShell {
  readonly user: string
  readonly cwd: string
  readonly record: boolean
}

interface Props {
  readonly sandboxId: string
  readonly folder?: string | undefined
  readonly onOpen: (shell: NewShell) => void
}

export function NewShellForm({ sandboxId, folder = '', onOpen }: Props) {
  const [user, setUser] = useState('')
  const [cwd, setCwd] = useState(folder)
  const [record, setRecord] = useState(false)
  return (
    <form
      class="shell-form"
      onSubmit={(event) => {
        event.preventDefault()
        onOpen({ user: user.trim(), cwd: cwd.trim(), record })
      }}
    >
      <label>
        {texts.user}
        <input
          class="input"
          value={user}
          maxLength={64}
          placeholder={texts.userDefault}
          onInput={(event) => setUser(event.currentTarget.value)}
        />
      </label>
      <label>
        {texts.folder}
        <input
          class="input"
          value={cwd}
          maxLength={4096}
          placeholder={texts.folderDefault}
          onInput={(event) => setCwd(event.currentTarget.value)}
        />
      </label>
      <label class="check">
        <input type="checkbox" checked={record} onChange={(event) => setRecord(event.currentTarget.checked)} />
        {texts.record}
      </label>
      <div class="toolbar">
        <button type="submit" class="button button-primary">
          {texts.open}
        </button>
        <CopyCode code={openShellCode(sandboxId, { user: user.trim(), cwd: cwd.trim() })} label={texts.open} isIcon />
      </div>
    </form>
  )
}
