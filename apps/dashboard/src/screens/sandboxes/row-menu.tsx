import type { SandboxRow } from '@sandyard/dashboard-contract/sandboxes'
import { paths } from '../../frame/paths.ts'
import { copyAndSay } from '../../parts/copy-and-say.ts'
import { CodeItems } from '../../parts/copy-code.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Menu } from '../../parts/menu.tsx'
import { sandboxesTexts as texts } from '../../texts/sandboxes-texts.ts'
import { connectCode } from '../sandbox/sandbox-code.ts'
import { me } from '../../session/me.ts'
import { extendSandbox, killSandbox, pauseSandbox, resumeSandbox } from './sandbox-calls.ts'

export function RowMenu({ row }: { readonly row: SandboxRow }) {
  const { sandboxId, state } = row
  const mayChange = me.value?.key?.isReadOnly !== true
  const isLive = state === 'running' || state === 'paused'
  return (
    <Menu label={texts.actionsOf(sandboxId)} buttonClass="button button-small button-icon button-quiet" button={<Icon name="more" />}>
      {state === 'running' && (
        <a href={paths.sandbox(sandboxId, 'terminal')}>
          <Icon name="terminal" />
          {texts.terminal}
        </a>
      )}
      {isLive && mayChange && (
        <>
          {state === 'running' && (
            <>
              <Item icon="clock" text={texts.extend} onClick={() => extendSandbox(row)} />
              <Item icon="pause" text={texts.pause} onClick={() => pauseSandbox(row)} />
            </>
          )}
          {state === 'paused' && <Item icon="play" text={texts.resume} onClick={() => resumeSandbox(row)} />}
          <button type="button" class="menu-danger" onClick={() => void killSandbox(row)}>
            <Icon name="trash" />
            {texts.killDots}
          </button>
        </>
      )}
      <hr />
      <Item icon="copy" text={texts.copyId} onClick={() => copyAndSay(sandboxId)} />
      {isLive && <CodeItems code={connectCode(sandboxId, me.value?.server)} />}
    </Menu>
  )
}

interface ItemProps {
  readonly icon: 'clock' | 'pause' | 'play' | 'copy'
  readonly text: string
  readonly onClick: () => Promise<unknown>
}

function Item({ icon, text, onClick }: ItemProps) {
  return (
    <button type="button" onClick={() => void onClick()}>
      <Icon name={icon} />
      {text}
    </button>
  )
}
