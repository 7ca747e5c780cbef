/**
 * Server of the Model Context Protocol on standard input and output. The bundle has it in a separate file
 * with the SDK.
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { LOGBOOM_VERSION } from '../../../shared/server/admin/build-info.ts';
import { explainFailure } from '../command-error.ts';
import type { StoreFlags } from '../store-client.ts';
import { boundedText } from './bounded-text.ts';
import { toolsOf } from './tools.ts';

const INSTRUCTIONS = `Logs in a store with Loki's API and LogQL. Start with list_services or list_labels, then narrow a query.
All tools are read-only. Results are cut to about 30,000 characters.`;

/** Resolves when the client ends the session. */
export async function serveMcp(store: StoreFlags): Promise<void> {
  const server = new McpServer({ name: 'logboom', version: LOGBOOM_VERSION }, { instructions: INSTRUCTIONS });
  for (const { name, description, input, run } of toolsOf(store)) {
    const annotations = { readOnlyHint: true, openWorldHint: false };
    server.registerTool(name, { description, inputSchema: input, annotations }, async given => {
      try {
        return { content: [{ type: 'text', text: boundedText(await run(given as never)) }] };
      } catch (error) {
        return { isError: true, content: [{ type: 'text', text: boundedText(explainFailure(error)) }] };
      }
    });
  }
  const ended = new Promise<void>(resolve => {
    process.stdin.once('end', resolve);
    process.stdin.once('close', resolve);
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
}
