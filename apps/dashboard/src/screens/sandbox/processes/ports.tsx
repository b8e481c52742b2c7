import type { PortView } from '@sandyard/dashboard-contract/processes'
import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import { useState } from 'preact/hooks'
import { call } from '../../../api/call.ts'
import { useCall } from '../../../api/use-call.ts'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../../parts/data-table.tsx'
import { FailureNotice } from '../../../parts/failure-notice.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Panel } from '../../../parts/panel.tsx'
import { me } from '../../../session/session.ts'
import { processesTexts as texts } from '../../../texts/sandbox-panels-texts.ts'
import { usePolled } from '../use-polled.ts'
import { portOf, portUrl } from './port-url.ts'
import '../../../styles/forms.css'

const EVERY_MS = 10_000

/** Addresses that lead into the sandbox and are opened in a new tab without a reference to this page. */
function PortLink({ url }: { readonly url: string }) {
  return (
    <span class="row">
      <a href={url} target="_blank" rel="noopener noreferrer" class="mono">
        {url} <Icon name="external" />
      </a>
      <CopyButton text={url} label={url} />
    </span>
  )
}

const COLUMNS: readonly Column<PortView>[] = [
  { id: 'port', title: texts.port, isNumber: true, cell: ({ port }) => <span class="mono">{port}</span> },
  { id: 'address', title: texts.address, cell: ({ address }) => <span class="mono">{address}</span> },
  { id: 'pid', title: texts.pid, isNumber: true, cell: ({ pid }) => <span class="mono">{pid ?? '–'}</span> },
  { id: 'open', title: texts.open, cell: ({ url }) => <PortLink url={url} /> },
]

export function Ports({ sandbox }: { readonly sandbox: SandboxDetail }) {
  const { sandboxId, network } = sandbox
  const { value, failure, reload } = useCall(`ports ${sandboxId}`, (signal) =>
    call('GET /sandboxes/{sandboxId}/ports', { params: { sandboxId }, signal }),
  )
  usePolled(reload, EVERY_MS, true)
  const [text, setText] = useState('')
  const server = me.value?.server
  const port = portOf(text)
  return (
    <Panel title={texts.ports} isFlush>
      <FailureNotice failure={failure} onRetry={reload} />
      {!network.allowPublicTraffic && <p class="notice">{texts.private}</p>}
      {value !== undefined && (
        <DataTable
          caption={texts.portsCaption}
          columns={COLUMNS}
          rows={value.data}
          rowKey={({ port: number, address }) => `${address} ${number}`}
          empty={texts.noPorts}
        />
      )}
      <div class="port-form">
        <label class="row">
          {texts.openPort}
          <input
            class="input port-input"
            inputMode="numeric"
            maxLength={5}
            placeholder="3000"
            aria-label={texts.portNumber}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {port !== undefined && server !== undefined && <PortLink url={portUrl(sandboxId, port, server)} />}
      </div>
    </Panel>
  )
}
