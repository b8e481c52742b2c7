import type { SandboxDetail } from '@sandyard/dashboard-contract/sandboxes'
import type { ComponentChildren } from 'preact'
import { paths } from '../../frame/paths.ts'
import { CopyCode } from '../../parts/copy-code.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { machineText } from '../../parts/size-text.ts'
import { Time } from '../../parts/time.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { me } from '../../session/session.ts'
import { sandboxTexts as texts } from '../../texts/sandbox-texts.ts'
import { actorText } from './actor-text.ts'
import { SandboxActions } from './sandbox-actions.tsx'
import { connectCode } from './sandbox-code.ts'
import '../../styles/details.css'

interface Props {
  readonly sandbox: SandboxDetail
  readonly onDone: () => void
}

export function SandboxHeader({ sandbox, onDone }: Props) {
  const { sandboxId, state, end } = sandbox
  return (
    <div class="sandbox-header">
      <div class="page-head">
        <h1 class="sandbox-id">{sandboxId}</h1>
        <CopyButton text={sandboxId} label={texts.copyId} />
        <StateBadge state={state} />
        <div class="actions" role="group" aria-label={texts.actions}>
          <SandboxActions sandbox={sandbox} onDone={onDone} />
          <CopyCode code={connectCode(sandboxId, me.value?.server)} label={texts.copyAs} />
        </div>
      </div>
      {end !== null && (
        <p class={`notice sandbox-end${end.reason === 'out_of_memory' || end.reason === 'engine_gone' ? ' notice-failed' : ''}`}>
          <strong>
            {texts.ended} <Time at={end.at} />
          </strong>
          <span>{end.text}</span>
          <span class="muted">{actorText(end.actor)}</span>
        </p>
      )}
      <dl class="sandbox-facts">
        {sandbox.alias !== null && sandbox.alias !== sandbox.templateName && <Fact name={texts.alias}>{sandbox.alias}</Fact>}
        <Fact name={texts.template}>
          <a href={paths.template(sandbox.templateId)}>{sandbox.templateName}</a>{' '}
          <a class="mono muted" href={paths.build(sandbox.buildId)} title={`${texts.build} ${sandbox.buildId}`}>
            {sandbox.buildId.slice(0, 8)}
          </a>
        </Fact>
        <Fact name="Size">{machineText(sandbox)}</Fact>
        <Fact name={texts.made}>{actorText(sandbox.createdBy)}</Fact>
        <Fact name={texts.started}>
          <Time at={sandbox.startedAt} />
        </Fact>
        {state === 'running' && (
          <Fact name={sandbox.pausesAtEnd ? texts.pausesIn : texts.endsIn}>
            {sandbox.endsAt === null ? texts.noEnd : <Countdown at={sandbox.endsAt} />}
          </Fact>
        )}
        {sandbox.parent !== null && (
          <Fact name={texts.parent}>
            {sandbox.parent.kind === 'fork' ? (
              <a class="mono" href={paths.sandbox(sandbox.parent.id)}>
                {sandbox.parent.id}
              </a>
            ) : (
              <span class="mono">
                {sandbox.parent.kind} {sandbox.parent.id}
              </span>
            )}
          </Fact>
        )}
        {sandbox.keptUntil !== null && (
          <Fact name={texts.keptUntil}>
            <Time at={sandbox.keptUntil} />
          </Fact>
        )}
        {sandbox.volumes.length > 0 && (
          <Fact name={texts.volumes}>
            {sandbox.volumes.map(({ name, path, isReadOnly }) => (
              <span key={path} class="tag">
                {name} → {path}
                {isReadOnly && ` (${texts.readOnly})`}
              </span>
            ))}
          </Fact>
        )}
        {Object.keys(sandbox.metadata).length > 0 && (
          <Fact name={texts.metadata}>
            {Object.entries(sandbox.metadata).map(([key, value]) => (
              <span key={key} class="tag">
                {key}={value}
              </span>
            ))}
          </Fact>
        )}
      </dl>
    </div>
  )
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <div class="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
