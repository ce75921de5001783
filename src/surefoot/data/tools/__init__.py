"""Files of the tools that teams judge and try rankings with; a module for each tool reads and writes its formats."""
