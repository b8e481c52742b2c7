import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { Icon } from '../../../parts/icon.tsx'
import { sizeText } from '../../../parts/size-text.ts'
import { useFixedRows } from '../../../parts/use-fixed-rows.ts'
import { filesTexts as texts } from '../../../texts/sandbox-files-texts.ts'
import { parentOf } from './file-paths.ts'
import type { TreeRow } from './file-tree.ts'

const ROW_HEIGHT = 24

export interface FileTreeViewProps {
  readonly rows: readonly TreeRow[]
  readonly selected: string | undefined
  readonly onSelect: (row: TreeRow) => void
  readonly onToggle: (path: string, isOpen: boolean) => void
  /** Files were dropped on a folder. */
  readonly onDrop: (folder: string, files: readonly File[]) => void
}

/** The tree: arrow keys walk, right and left open and close, Enter selects. Only the rows in view are elements. */
export function FileTreeView({ rows, selected, onSelect, onToggle, onDrop }: FileTreeViewProps) {
  const id = useId()
  const frame = useRef<HTMLDivElement | null>(null)
  const [active, setActive] = useState<string | undefined>(selected)
  const [target, setTarget] = useState<string | undefined>(undefined)
  const view = useFixedRows({ count: rows.length, frame, rowHeight: ROW_HEIGHT })
  const activeIndex = Math.max(
    0,
    rows.findIndex(({ path }) => path === active),
  )
  useEffect(() => {
    if (selected !== undefined) setActive(selected)
  }, [selected])

  const move = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (row === undefined) return
    setActive(row.path)
    view.show(rows.indexOf(row))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const row = rows[activeIndex]
    if (event.ctrlKey || event.altKey || event.metaKey) return
    if (event.key === 'ArrowDown') move(activeIndex + 1)
    else if (event.key === 'ArrowUp') move(activeIndex - 1)
    else if (event.key === 'Home') move(0)
    else if (event.key === 'End') move(rows.length - 1)
    else if (event.key === 'ArrowRight' && row?.isOpen === true) move(activeIndex + 1)
    else if (event.key === 'ArrowRight' && row?.entry?.kind === 'directory') onToggle(row.path, true)
    else if (event.key === 'ArrowLeft' && row !== undefined) {
      if (row.isOpen) onToggle(row.path, false)
      else move(rows.findIndex(({ path }) => path === parentOf(row.path)))
    } else if ((event.key === 'Enter' || event.key === ' ') && row?.entry !== undefined) press(row)
    else return
    event.preventDefault()
  }
  const press = (row: TreeRow): void => {
    if (row.entry === undefined) return
    setActive(row.path)
    if (row.entry.kind === 'directory') onToggle(row.path, !row.isOpen)
    onSelect(row)
  }
  const folderAt = (event: DragEvent): string => {
    const element = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-index]') : null
    const row = rows[Number(element?.dataset['index'] ?? -1)]
    if (row?.entry === undefined) return '/'
    return row.entry.kind === 'directory' ? row.path : parentOf(row.path)
  }
  return (
    <div
      ref={frame}
      class="tree"
      role="tree"
      aria-label={texts.tree}
      tabIndex={0}
      aria-activedescendant={`${id}-${activeIndex}`}
      onKeyDown={onKeyDown}
      onDragOver={(event) => {
        event.preventDefault()
        setTarget(folderAt(event))
      }}
      onDragLeave={() => setTarget(undefined)}
      onDrop={(event) => {
        event.preventDefault()
        setTarget(undefined)
        onDrop(folderAt(event), [...(event.dataTransfer?.files ?? [])])
      }}
    >
      <div class="virtual-rows" role="presentation" style={{ height: `${view.totalHeight}px` }}>
        {rows.slice(view.from, view.to).map((row, place) => {
          const index = view.from + place
          return (
            <Row
              key={row.path}
              id={`${id}-${index}`}
              index={index}
              row={row}
              start={index * ROW_HEIGHT}
              isSelected={row.path === selected}
              isActive={index === activeIndex}
              isTarget={target === row.path}
              onPress={() => press(row)}
            />
          )
        })}
      </div>
    </div>
  )
}

interface RowProps {
  readonly id: string
  readonly index: number
  readonly row: TreeRow
  readonly start: number
  readonly isSelected: boolean
  readonly isActive: boolean
  readonly isTarget: boolean
  readonly onPress: () => void
}

function Row({ id, index, row, start, isSelected, isActive, isTarget, onPress }: RowProps) {
  const { entry, level, isOpen, name, note } = row
  const isFolder = entry?.kind === 'directory'
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are those of the tree
    <div
      id={id}
      data-index={index}
      role="treeitem"
      tabIndex={-1}
      aria-level={level}
      aria-selected={isSelected}
      aria-expanded={isFolder ? isOpen : undefined}
      aria-disabled={entry === undefined}
      class={`tree-row${isActive ? ' tree-active' : ''}${isTarget ? ' tree-target' : ''}`}
      style={{ transform: `translateY(${start}px)`, paddingInlineStart: `${8 + (level - 1) * 14}px` }}
      onClick={onPress}
    >
      {entry === undefined ? (
        <span class="muted">{note === 'loading' ? texts.loading : note === 'empty' ? texts.empty : texts.cut(5000)}</span>
      ) : (
        <>
          <span class={`tree-arrow${isFolder ? (isOpen ? ' tree-open' : ' tree-closed') : ''}`} aria-hidden="true" />
          <Icon name={isFolder ? 'folder' : 'file'} />
          <span class="truncate grow">
            {name}
            {entry.target !== null && <span class="muted"> → {entry.target}</span>}
          </span>
          {entry.kind === 'file' && <span class="muted small number">{sizeText(entry.bytes)}</span>}
        </>
      )}
    </div>
  )
}
