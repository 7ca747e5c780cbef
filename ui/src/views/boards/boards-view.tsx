/** Boards view: the list, or the board in the URL. */
import { route } from '../../state/navigation.ts';
import { useStore } from '../../state/use-store.ts';
import { BoardList } from './board-list.tsx';
import { BoardPage } from './board-page.tsx';

export default function BoardsView() {
  const { id } = useStore(route).params;
  return id === undefined ? <BoardList /> : <BoardPage key={id} id={id} />;
}
