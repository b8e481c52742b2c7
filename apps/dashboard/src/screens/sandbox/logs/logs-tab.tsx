import { useEffect, useState } from 'preact/hooks'
import { subscribe } from '../../../live/live-client.ts'
import { LogLines } from '../../../parts/log-lines.tsx'
import { appendRows, type LogRow } from '../../../parts/log-search.ts'
import { saveFile } from '../../../parts/save-file.ts'
import { logsTexts as texts } from '../../../texts/sandbox-logs-texts.ts'
import type { SandboxTabProps } from '../sandbox-tab.ts'
import { joinSnapshot, MAX_ROWS, readOlder, readWholeLog, rowOf } from './read-logs.ts'

/** Patches that come within this time are shown at once: a flood of lines renders a few times a second. */
const PAUSE_MS = 100

export function LogsTab({ sandbox }: SandboxTabProps) {
  const { sandboxId } = sandbox
  const [rows, setRows] = useState<readonly LogRow[]>([])
  const [isAll, setAll] = useState(false)
  const [failure, setFailure] = useState<string | undefined>(undefined)
  useEffect(() => {
    let waiting: LogRow[] = []
    let timer: ReturnType<typeof setTimeout> | undefined
    const flush = (): void => {
      timer = undefined
      const added = waiting
      waiting = []
      setRows((former) => appendRows(former, added, MAX_ROWS))
    }
    const leave = subscribe<'logs'>(`logs:${sandboxId}`, {
      onSnapshot: ({ lines }) => {
        waiting = []
        setFailure(undefined)
        setRows((former) => joinSnapshot(former, lines.map(rowOf)))
      },
      onPatch: ({ lines }) => {
        waiting.push(...lines.map(rowOf))
        timer ??= setTimeout(flush, PAUSE_MS)
      },
      onError: ({ message }) => setFailure(message),
    })
    return () => {
      clearTimeout(timer)
      leave()
    }
  }, [sandboxId])

  const older = async (): Promise<void> => {
    const read = await readOlder(sandboxId, rows)
    setRows(read.rows)
    setAll(read.isAll)
  }
  const download = async (): Promise<void> => saveFile(`${sandboxId}.log`, await readWholeLog(sandboxId))

  return (
    <>
      {failure !== undefined && (
        <p class="notice notice-failed" role="alert">
          {failure}
        </p>
      )}
      <LogLines
        label={texts.label}
        rows={rows}
        isLive={sandbox.state !== 'ended'}
        empty={texts.empty}
        name="sandbox"
        onDownload={download}
        onOlder={isAll ? undefined : older}
      />
    </>
  )
}
