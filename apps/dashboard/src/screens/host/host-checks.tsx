import type { CheckLevel, DismissBody, HealthReport, HostCheck } from '@sandyard/dashboard-contract/host'
import { call } from '../../api/call.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Ago } from '../../parts/ago.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Panel } from '../../parts/panel.tsx'
import { runAction } from '../../parts/run-action.ts'
import { SelectBox } from '../../parts/select-box.tsx'
import { hostTexts as texts } from '../../texts/host-texts.ts'
import '../../styles/forms.css'

const KINDS = { fail: 'badge-bad', warn: 'badge-warn', ok: 'badge-good', skipped: '' } satisfies Record<CheckLevel, string>

/** The checks of `sandyard doctor`: what fails first, then warnings; the rest is folded. */
export function HostChecks({ health }: { readonly health: HealthReport }) {
  const open = health.checks.filter(({ dismissedUntil }) => dismissedUntil === null)
  const dismissed = health.checks.filter(({ dismissedUntil }) => dismissedUntil !== null)
  const of = (level: CheckLevel): readonly HostCheck[] => open.filter((check) => check.level === level)
  return (
    <Panel
      title={texts.checks}
      isFlush
      actions={
        <>
          {health.ranAt !== null && (
            <span class="muted small">
              {texts.lastRun} <Ago at={health.ranAt} /> {health.isDeep && `(${texts.deepRun})`}
            </span>
          )}
          <ActionButton
            done={texts.started}
            disabled={health.state === 'running'}
            code={{ cli: 'sandyard doctor' }}
            run={() => call('POST /health/run', { body: {} })}
          >
            {texts.run}
          </ActionButton>
          <ActionButton
            done={texts.started}
            disabled={health.state === 'running'}
            confirm={{ title: texts.runDeepTitle, text: texts.runDeepText, button: texts.runDeep }}
            code={{ cli: 'sandyard doctor --deep' }}
            run={() => call('POST /health/run', { body: { deep: true } })}
          >
            {texts.runDeep}
          </ActionButton>
        </>
      }
    >
      <p class="host-health-state" role="status">
        {stateText(health)}
      </p>
      <ul>
        {[...of('fail'), ...of('warn')].map((check) => (
          <CheckItem key={check.id} check={check} />
        ))}
      </ul>
      <Folded title={texts.dismissed(dismissed.length)} checks={dismissed} />
      <Folded title={texts.passed(of('ok').length)} checks={of('ok')} />
      <Folded title={texts.skipped(of('skipped').length)} checks={of('skipped')} />
    </Panel>
  )
}

function stateText({ state, message }: HealthReport): string {
  if (state === 'never') return texts.never
  if (state === 'running') return texts.running
  return state === 'failed' ? texts.failed(message ?? '') : (message ?? '')
}

function Folded({ title, checks }: { readonly title: string; readonly checks: readonly HostCheck[] }) {
  if (checks.length === 0) return null
  return (
    <details class="host-folded">
      <summary>{title}</summary>
      <ul>
        {checks.map((check) => (
          <CheckItem key={check.id} check={check} />
        ))}
      </ul>
    </details>
  )
}

function CheckItem({ check }: { readonly check: HostCheck }) {
  const { id, title, level, found, why, todo, commands, dismissedUntil } = check
  const isFinding = level === 'fail' || level === 'warn'
  return (
    <li class="host-check">
      <span class={`badge ${KINDS[level]}`}>{texts.levels[level]}</span>
      <code>{id}</code>
      <div class="grow">
        <strong>{title}</strong>
        <p>{found}</p>
        {isFinding && (
          <details>
            <summary>{texts.means}</summary>
            <p>{why}</p>
            {todo !== null && (
              <>
                <h3>{texts.fix}</h3>
                <p>{todo}</p>
              </>
            )}
            {commands.length > 0 && (
              <div class="row">
                <code class="code-block grow">{commands.join('\n')}</code>
                <CopyButton text={commands.join('\n')} label={`${texts.copyCommands}: ${id}`} />
              </div>
            )}
          </details>
        )}
      </div>
      {isFinding && dismissedUntil === null && (
        <SelectBox
          label={texts.dismissOf(id)}
          value=""
          options={Object.entries<string>(texts.dismissFor)}
          onSelect={(value) => void dismiss(id, value as DismissBody['for'])}
        />
      )}
      {dismissedUntil !== null && (
        <ActionButton isSmall run={() => call('POST /health/dismiss', { body: { id, for: 'none' } })}>
          {texts.restore}
        </ActionButton>
      )}
    </li>
  )
}

function dismiss(id: string, time: DismissBody['for']): Promise<boolean> {
  return runAction({
    label: texts.dismissOf(id),
    done: texts.dismissedNow,
    isRepeatable: true,
    run: () => call('POST /health/dismiss', { body: { id, for: time } }),
  })
}
